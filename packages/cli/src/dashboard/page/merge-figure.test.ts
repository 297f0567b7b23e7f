import { createDocument } from "@heterosgd/report/node";
import { expect, test } from "vitest";
import { mergeFigure } from "./merge-figure.js";

const document = createDocument();

function figure(caption: string, chart: string, rows: string, note = ""): Element {
  const template = document.createElement("div");
  template.innerHTML =
    `<figure><figcaption><h2>Title</h2><p>${caption}</p></figcaption><div class="wide">${chart}</div>` +
    `<div class="narrow">${chart}</div><details><summary>Data</summary><div class="scroll"><table>` +
    `<thead><tr><th>a</th></tr></thead><tbody>${rows}</tbody></table></div>${note}</details></figure>`;
  return template.firstElementChild!;
}

test("what is shown is new, what is opened and has the focus is the same as before", () => {
  const page = document.createElement("main");
  const old = figure("one", "<svg>1</svg>", "<tr><td>1</td></tr>");
  page.append(old);
  const [details, summary, scroll] = ["details", "summary", ".scroll"].map((it) =>
    old.querySelector(it),
  );
  details!.setAttribute("open", "");
  mergeFigure(old, figure("two", "<svg>2</svg>", "<tr><td>1</td></tr><tr><td>2</td></tr>"));
  expect(page.firstElementChild).toBe(old);
  expect(old.querySelector("figcaption p")!.textContent).toBe("two");
  expect(old.querySelector(".wide")!.innerHTML).toBe("<svg>2</svg>");
  expect(old.querySelector(".narrow")!.innerHTML).toBe("<svg>2</svg>");
  expect(old.querySelectorAll("tbody tr")).toHaveLength(2);
  expect(old.querySelector("details")).toBe(details);
  expect(old.querySelector("summary")).toBe(summary);
  expect(old.querySelector(".scroll")).toBe(scroll);
  expect(details!.hasAttribute("open")).toBe(true);
});

test("a figure that is built otherwise takes the place of the old one, opened as that was", () => {
  const page = document.createElement("main");
  const old = figure("one", "<svg>1</svg>", "");
  page.append(old);
  const fresh = figure("two", "<svg>2</svg>", "", '<p class="note">less</p>');
  mergeFigure(old, fresh);
  expect(page.firstElementChild).toBe(fresh);
  expect(fresh.querySelector("details")!.hasAttribute("open")).toBe(false);
  fresh.querySelector("details")!.setAttribute("open", "");
  const last = figure("three", "<svg>3</svg>", "");
  mergeFigure(fresh, last);
  expect(page.firstElementChild).toBe(last);
  expect(last.querySelector("details")!.hasAttribute("open")).toBe(true);
});
