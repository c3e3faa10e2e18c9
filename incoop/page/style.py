"""How the page looks: a good terminal report turned page. System fonts, one accent colour, figures in columns.

What is reused is quiet, what was worked on has the accent, more of it where more was mapped; what is wrong is red.
Text has a contrast of 4.5 or more to its ground in both schemes.
"""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--raised:#f6f7f8;--text:#1c2024;--soft:#5b646d;--rule:#dfe3e6;
--reused:#d3d9de;--patched:#8fb5e8;--accent:#1f6bc9;--lost:#c8322b;--past:#b3bcc4;--deep:#12407c}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--raised:#1c2125;--text:#e3e7ea;--soft:#9aa5ae;--rule:#2d343a;
--reused:#353e46;--patched:#3f6ba5;--accent:#6fb0ff;--lost:#ff7a70;--past:#4c5761;--deep:#b9d8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;
overflow-wrap:break-word;-webkit-text-size-adjust:100%}
h1,li,.data td,.ends,figcaption{overflow-wrap:anywhere}
code{font:inherit;white-space:nowrap}
main,header,footer{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.5rem}
h1{font-size:1.05rem;font-weight:600;margin:0;display:inline}
.run{color:var(--soft)}
.lede{font-size:1.35rem;line-height:1.3;margin:.5rem 0 1.25rem;font-weight:500;letter-spacing:-.01em;text-wrap:pretty}
h2{font-size:.95rem;font-weight:600;margin:0 0 .5rem}
h3{font-size:.85rem;font-weight:500;margin:.9rem 0 .3rem}
section{border-top:1px solid var(--rule);padding:1rem 0 1.35rem}
p{margin:0 0 .6rem}
p:last-child{margin-bottom:0}
.note,figcaption,.ends,caption{color:var(--soft);font-size:.85rem}
.note b,figcaption b{color:var(--text);font-weight:600}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem;margin:0 0 1.5rem;padding:0}
.tile{background:var(--raised);border-radius:6px;padding:.75rem .9rem .8rem}
.tile h2{color:var(--soft);font-weight:500;font-size:.85rem;margin:0}
.tile b{display:block;font-size:1.45rem;line-height:1.35;font-weight:600;font-variant-numeric:tabular-nums}
.tile.bad b{color:var(--lost)}
.tile p{color:var(--soft);font-size:.85rem;line-height:1.4;margin:.1rem 0 0}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:0 2.5rem}
.three{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr));gap:1rem 1.75rem;align-items:end}
figure{margin:0 0 .9rem}
figcaption{margin-bottom:.35rem}
figcaption b{font-variant-numeric:tabular-nums}
svg{display:block;width:100%}
.reused{fill:var(--reused)}.patched{fill:var(--patched)}.mapped{fill:var(--accent)}.lost{fill:var(--lost)}
.past,.rest{fill:var(--past)}.now{fill:var(--accent)}.gap-fill{fill:var(--ground)}
.gap{stroke:var(--ground);stroke-width:1.5px;vector-effect:non-scaling-stroke;fill:none}
.bars{border-bottom:1px solid var(--rule)}
.line{fill:none;stroke:var(--accent);stroke-width:1.6px;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.area{fill:var(--accent);opacity:.13}
.series{border-bottom:1px solid var(--rule)}
.ends{display:flex;justify-content:space-between;gap:1rem;margin-top:.2rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;list-style:none;margin:.6rem 0 0;padding:0;font-size:.85rem;
font-variant-numeric:tabular-nums}
.key{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.45em}
.key.reused{background:var(--reused)}.key.patched{background:var(--patched)}.key.mapped{background:var(--accent)}
.key.lost{background:var(--lost)}.key.rest{background:var(--past)}
.s1{fill:var(--past)}.s2{fill:var(--soft)}.s3{fill:var(--accent)}.s4{fill:var(--patched)}.s5{fill:var(--deep)}
.s6{fill:var(--reused)}.key.s1{background:var(--past)}.key.s2{background:var(--soft)}.key.s3{background:var(--accent)}
.key.s4{background:var(--patched)}.key.s5{background:var(--deep)}.key.s6{background:var(--reused)}
table{border-collapse:collapse;width:100%;font-size:.85rem;line-height:1.45;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:500;color:var(--soft);padding:.2rem .75rem .25rem 0;border-bottom:1px solid var(--rule)}
td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
tbody tr:last-child td{border-bottom:0}
.n{text-align:right;white-space:nowrap}
.data,.data td,ul.code{font-size:.8rem;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.data th{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:.85rem}
table td.n{overflow-wrap:normal}
td.bar{width:40%}
.bar svg{margin-top:.3em}
del{color:var(--soft);text-decoration:none}
ins{text-decoration:none;color:var(--accent)}
i{color:var(--soft);font-style:normal}
ul.code,ul.warnings{margin:0 0 .6rem;padding-left:1.1rem}
ul.warnings li{margin-bottom:.3rem}
#warnings h2{color:var(--lost)}
details{margin-top:.5rem}
summary{cursor:pointer;color:var(--accent);font-size:.85rem;padding:.25rem 0}
summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
footer{color:var(--soft);font-size:.85rem;padding-bottom:2rem}
@media (max-width:30rem){.lede{font-size:1.2rem}main,header,footer{padding-left:1rem;padding-right:1rem}
.tiles{grid-template-columns:1fr;gap:.5rem}td,th{padding-right:.5rem}}
@media print{section{break-inside:avoid}}
""".strip()
