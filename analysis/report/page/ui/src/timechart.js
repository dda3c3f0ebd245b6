// What charts over time share: the parts of ECharts that the page uses, margins, colours from the style sheet, axes.

import * as echarts from 'echarts/core';
import { CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, MarkAreaComponent, MarkLineComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';
import * as fmt from './format.js';

echarts.use([LineChart, CustomChart, GridComponent, MarkAreaComponent, MarkLineComponent, CanvasRenderer]);

export const LEFT = 68;
export const RIGHT = 14;

export const initChart = (canvas) => echarts.init(canvas, null, { renderer: 'canvas' });

export function palette(dark) {
  const css = getComputedStyle(document.documentElement);
  const v = (n) => css.getPropertyValue(n).trim();
  return { text: v('--muted'), grid: v('--line'), phase: v('--phase'), card: v('--card'), line: v('--text'), dark };
}

// Options of a chart without its series; range in ns.
export function axes(range, unit, p) {
  return {
    animation: false,
    aria: { enabled: false },
    grid: { left: LEFT, right: RIGHT, top: 10, bottom: 24, containLabel: false },
    xAxis: {
      type: 'value', min: range[0] / 1e9, max: range[1] / 1e9, splitLine: { show: false },
      axisLine: { lineStyle: { color: p.grid } }, axisTick: { lineStyle: { color: p.grid } },
      axisLabel: { color: p.text, hideOverlap: true, formatter: (v) => fmt.seconds(v), showMinLabel: false, showMaxLabel: false },
    },
    yAxis: {
      type: 'value', min: (e) => Math.min(0, e.min), splitNumber: 3, axisLine: { show: false }, axisTick: { show: false },
      splitLine: { lineStyle: { color: p.grid } }, axisLabel: { color: p.text, formatter: (v) => fmt.quantity(v, unit) },
    },
  };
}

// Inside the plot and nowhere else.
export function clipOf({ x, y, width, height }) {
  return { type: 'rect', shape: { x, y, width, height } };
}
