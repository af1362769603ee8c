/** Badges of pipelines, drawn as SVG. Pure functions. */
import { type Html, html } from '../../../pages/index.ts';

const colors: Readonly<Record<string, string>> = {
  success: '#2a7d3f',
  failed: '#b3261e',
  running: '#0b5cad',
  pending: '#8a5a00',
  canceled: '#57606a',
  skipped: '#57606a',
};
const unknown = { value: 'unknown', color: '#57606a' };

const words: Readonly<Record<string, string>> = { success: 'passed' };

/** The text and color of a badge for a pipeline status. */
export const statusShown = (status: string | undefined) =>
  status === undefined ? unknown : { value: words[status] ?? status, color: colors[status] ?? unknown.color };

/** The text and color of a badge for a pipeline's coverage, in percent. */
export function coverageShown(coverage: string | null | undefined) {
  const percent = Number(coverage ?? Number.NaN);
  if (!Number.isFinite(percent)) return unknown;
  const color = percent >= 90 ? colors.success! : percent >= 75 ? colors.pending! : colors.failed!;
  return { value: `${percent.toFixed(2)}%`, color };
}

/** The estimated width of an 11 pixel sans-serif text, in pixels; wide enough for all texts of badges. */
const widthOf = (text: string): number => text.length * 7 + 10;

/** A badge. */
export function badge(label: string, { value, color }: { value: string; color: string }): Html {
  const [left, right] = [widthOf(label), widthOf(value)];
  const text = (at: number, words: string) => html`<text x="${at}" y="14" fill="#fff">${words}</text>`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${`${label}: ${value}`}"><title>${`${label}: ${value}`}</title><rect width="${left}" height="20" fill="#3a3f46"/><rect x="${left}" width="${right}" height="20" fill="${color}"/><g text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(left / 2, label)}${text(left + right / 2, value)}</g></svg>`;
}
