import { declarations } from "../draw/themes.js";

/**
 * The style sheet of a page of figures: light and dark, wide and narrow, on screen and on paper. Charts are there twice, drawn for a
 * wide page and for a narrow one, since text that shrinks with a chart cannot be read on a phone.
 */
export function pageStyles(): string {
  return `
:root{color-scheme:light dark;${declarations("light")}}
@media (prefers-color-scheme:dark){:root{${declarations("dark")}}}
*{box-sizing:border-box}
body{margin:0;background:var(--hg-surface);color:var(--hg-ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
.skip{position:absolute;left:-99rem}
.skip:focus{left:0;top:0;padding:.5rem 1rem;background:var(--hg-surface);z-index:1}
header,main,footer{max-width:48rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.2;margin:1.5rem 0 .5rem}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 .5rem}
h3{font-size:1.1rem;line-height:1.3;margin:2rem 0 .25rem}
a{color:inherit;text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--hg-s1);outline-offset:2px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}
dt{color:var(--hg-muted)}
dd{margin:0}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin:.5rem 0}
figure{margin:0 0 2rem}
figcaption p{margin:0 0 .5rem;color:var(--hg-muted)}
svg{display:block;width:100%;height:auto}
.narrow{display:none}
.scroll{overflow-x:auto;max-height:24rem;overflow-y:auto}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{text-align:left;font-weight:400;padding:.2rem .75rem .2rem 0;border-bottom:1px solid var(--hg-grid);white-space:nowrap}
thead th{color:var(--hg-muted);vertical-align:bottom;white-space:normal}
.number{text-align:right}
summary{cursor:pointer;padding:.25rem 0}
.note{color:var(--hg-muted);font-size:.875rem}
footer{margin-top:3rem;padding-bottom:2rem;color:var(--hg-muted);font-size:.875rem}
@media (max-width:36rem){.wide{display:none}.narrow{display:block}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}}
@media print{:root{color-scheme:light;${declarations("light")}}.skip,nav,details{display:none}.wide{display:block}.narrow{display:none}figure{break-inside:avoid}.scroll{max-height:none;overflow:visible}th,td{white-space:normal}body{font-size:10pt}header,main,footer{max-width:none}}
`.trim();
}
