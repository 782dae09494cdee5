/** The page's script: draws all charts, and redraws them when their size or the colour scheme changes. */
import uPlot from "uplot";
import { CHARTS_ID } from "../chart.ts";
import { onResize, onSchemeChange, plotElements, readCharts } from "./dom.ts";
import { optionsOf, PLOT_HEIGHT } from "./options.ts";

const charts = readCharts(CHARTS_ID);
for (const element of plotElements()) {
  const chart = charts[Number(element.dataset.chart)];
  if (chart === undefined) continue;
  const data: uPlot.AlignedData = [[...chart.x], ...chart.series.map(({ values }) => [...values])];
  const plot = new uPlot(optionsOf(chart, element.clientWidth), data, element);
  onResize(element, () => plot.setSize({ width: element.clientWidth, height: PLOT_HEIGHT }));
  onSchemeChange(() => plot.redraw(false));
}
