import contextlib, random, pytest, incoop, traceback
from .test_fuzz import *
from .test_fuzz import fuzzed, nobody_waits, calls, hostile_texts, used
from .test_fuzz import Fuzzed
for n in list(globals()):
    if n.startswith("test_f"): del globals()[n]
@pytest.mark.timeout(900)
def test_all(fuzzed, nobody_waits):
    place=fuzzed.case(); folder=place/"hostile"; folder.mkdir(); texts=hostile_texts(folder)
    ways=calls(fuzzed, place/"store", folder)
    for name in ways:
        if not any(w in name for w in ("window","pig","ingest","watch","html")): continue
        for k in range(2*len(texts)):
            rng=random.Random(k); first=texts[k%len(texts)]; given=[]
            def text():
                given.append(first if not given else rng.choice(texts)); return given[-1]
            try:
                with contextlib.chdir(folder): ways[name](rng,text)
            except incoop.IncoopError as e:
                if len(str(e).splitlines())>10: print("LONG",name,[g[:40] for g in given])
            except BaseException as e:
                if isinstance(e,KeyboardInterrupt): raise
                print("BAD",name,[g[:40] for g in given],type(e).__name__,str(e)[:300].replace("\n","|"))
    used(fuzzed,place)
