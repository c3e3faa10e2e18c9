"""Which names of the standard library (and three packages) give another result on another run.

Contract: names are canonical: `os.path.exists`, not `posixpath.exists` or `genericpath.exists`. A number says that the
call is impure only with at most so many arguments: `time.localtime()` reads the clock, `time.localtime(0)` does not.
"""

from __future__ import annotations

RANDOM, CLOCK, ENVIRONMENT, FILE, INPUT, NETWORK, PROCESS = (
    "random",
    "clock",
    "environment",
    "file",
    "input",
    "network",
    "process",
)

#: With any number of arguments.
ALWAYS = 1 << 30


def _table(kind: str, prefix: str, names: str, arguments: int = ALWAYS) -> dict[str, tuple[str, int]]:
    return {f"{prefix}.{name}" if prefix else name: (kind, arguments) for name in names.split()}


_DISTRIBUTIONS = (
    "betavariate choice choices expovariate gammavariate gauss getrandbits lognormvariate normalvariate paretovariate "
    "randbytes randint random randrange sample shuffle triangular uniform vonmisesvariate weibullvariate "
    "binomialvariate getstate"
)

#: Canonical name -> (kind, most arguments with which it is impure).
IMPURE: dict[str, tuple[str, int]] = {
    **_table(RANDOM, "random", _DISTRIBUTIONS + " SystemRandom"),
    **_table(RANDOM, "random", "Random", 0),
    **_table(RANDOM, "secrets", "token_bytes token_hex token_urlsafe choice randbelow randbits SystemRandom"),
    **_table(RANDOM, "uuid", "uuid1 uuid4 uuid6 uuid7 getnode"),
    **_table(RANDOM, "os", "urandom getrandom"),
    **_table(RANDOM, "numpy.random", "default_rng RandomState SeedSequence", 0),
    **_table(CLOCK, "time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time"),
    **_table(CLOCK, "time", "process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns"),
    **_table(CLOCK, "time", "localtime gmtime ctime asctime", 0),
    **_table(CLOCK, "time", "strftime", 1),
    **_table(CLOCK, "datetime.datetime", "now utcnow today"),
    **_table(CLOCK, "datetime.date", "today"),
    **_table(CLOCK, "email.utils", "formatdate localtime", 0),
    **_table(RANDOM, "email.utils", "make_msgid"),
    **_table(CLOCK, "pandas.Timestamp", "now utcnow today"),
    **_table(ENVIRONMENT, "os", "environ environb getenv getenvb getcwd getcwdb getlogin uname cpu_count"),
    **_table(ENVIRONMENT, "", "pathlib.Path.cwd multiprocessing.cpu_count"),
    **_table(ENVIRONMENT, "platform", "node uname"),
    **_table(ENVIRONMENT, "socket", "gethostname getfqdn"),
    **_table(FILE, "", "open io.FileIO codecs.open gzip.open bz2.open lzma.open linecache.getline"),
    **_table(FILE, "os", "open listdir scandir walk stat lstat statvfs access readlink"),
    **_table(FILE, "shutil", "disk_usage which"),
    **_table(FILE, "os.path", "exists lexists isfile isdir islink ismount samefile getsize getmtime getatime getctime"),
    **_table(FILE, "", "glob.glob glob.iglob fileinput.input sqlite3.connect shelve.open zipfile.ZipFile tarfile.open"),
    **_table(FILE, "tempfile", "mkstemp mkdtemp mktemp NamedTemporaryFile TemporaryFile TemporaryDirectory gettempdir"),
    **_table(FILE, "numpy", "load loadtxt genfromtxt fromfile memmap"),
    **_table(INPUT, "", "input sys.stdin getpass.getpass"),
    **_table(NETWORK, "socket", "socket create_connection create_server getaddrinfo gethostbyname socketpair"),
    **_table(NETWORK, "", "urllib.request.urlopen urllib.request.urlretrieve ssl.create_default_context"),
    **_table(NETWORK, "http.client", "HTTPConnection HTTPSConnection"),
    **_table(NETWORK, "requests", "get post put delete head options patch request Session"),
    **_table(PROCESS, "os", "getpid getppid system popen times"),
    **_table(PROCESS, "subprocess", "run Popen call check_call check_output getoutput getstatusoutput"),
    **_table(PROCESS, "threading", "get_ident get_native_id"),
}

#: What is read by calls of these names is followed while functions run (incoop/code/watch.py); others are not heard.
HEARD = frozenset(
    {
        *("open", "FileIO", "read_text", "read_bytes", "getline", "listdir", "scandir", "walk", "iterdir", "rglob"),
        *("connect", "ZipFile", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "environ", "environb"),
        *("getenv", "getenvb", "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory"),
    }
)

#: Modules all of whose functions are impure unless listed; a bare use (`getattr(random, name)`) is reported too.
IMPURE_MODULES = {"random": RANDOM, "secrets": RANDOM, "numpy.random": RANDOM}

#: What is pure in those modules: types and seeds, not draws.
PURE_IN_MODULES = frozenset({"seed", "default_rng", "compare_digest", "mtrand", "bit_generator"})

#: Methods that read a file when the code handles `pathlib` paths.
PATH_METHODS = frozenset(
    {
        *("read_text", "read_bytes", "iterdir", "rglob", "glob", "open", "walk"),
        *("exists", "stat", "lstat", "is_file", "is_dir", "is_symlink", "is_mount", "samefile", "readlink"),
    }
)

#: Where an implementation module shows through.
ALIASES = {
    "_io": "io",
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "genericpath": "os.path",
    "_socket": "socket",
    "_random": "random",
    "_datetime": "datetime",
    "_pydatetime": "datetime",
    "numpy.random.mtrand": "numpy.random",
    "pandas._libs.tslibs.timestamps": "pandas",
    "pathlib._local": "pathlib",
    "builtins.open": "open",
    "builtins.input": "input",
    "io.open": "open",
}

#: What to do about each kind, as the end of a sentence.
REMEDIES = {
    RANDOM: "make a random.Random(seed) inside the function, seeded from the record",
    CLOCK: "read the clock before the job and capture the value",
    ENVIRONMENT: "read the value before the job and capture it",
    FILE: "name the file in depends_on=[path], or read it before the job and capture its content",
    INPUT: "read the answer before the job and capture it",
    NETWORK: "fetch the data before the job and capture it or give it as input",
    PROCESS: "compute the value before the job and capture it",
}
