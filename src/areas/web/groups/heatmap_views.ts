/** A picture of how much somebody did on each day of the last year. */
import { type Html, html } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';

const weeks = 53;
const day_ms = 86_400_000;
/** The distance of two days in the picture. */
const step = 12;
const size = 10;
/** The room for the names of months. */
const head = 14;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const dayOf = (time_ms: number) => new Date(time_ms).toISOString().slice(0, 10);

/** The step of a count from 1 to 4, which are quarters of the largest one. */
const levelOf = (count: number, largest: number) => Math.max(1, Math.ceil((count / largest) * 4));

/**
 * Whole weeks from Monday to Sunday; the last one holds the present day.
 * @param counts of days, as ISO 8601; a day without one has none
 * @param today the present day of the reader
 */
export function heatmapView(counts: ReadonlyMap<string, number>, today: string): Html {
  const now = Date.parse(today);
  const monday = now - ((new Date(now).getUTCDay() + 6) % 7) * day_ms - (weeks - 1) * 7 * day_ms;
  const days = Array.from({ length: Math.round((now - monday) / day_ms) + 1 }, (_, index) => monday + index * day_ms);
  const countOf = (at: number) => counts.get(dayOf(at)) ?? 0;
  const largest = Math.max(1, ...days.map(countOf));
  const total = days.reduce((sum, at) => sum + countOf(at), 0);
  const isFirstOfMonth = (at: number) => new Date(at).getUTCDate() <= 7;
  const cells = days.map((at, index) => {
    const count = countOf(at);
    const [x, y] = [Math.floor(index / 7) * step, head + (index % 7) * step];
    return html`<rect class="${`level${count === 0 ? 0 : levelOf(count, largest)}`}" x="${x}" y="${y}" width="${size}" height="${size}" rx="2">${
      count > 0 && html`<title>${counted(count, 'event')} on ${dayOf(at)}</title>`
    }</rect>`;
  });
  const names = days.flatMap((at, index) =>
    index % 7 === 0 && isFirstOfMonth(at) && index / 7 < weeks - 2
      ? [html`<text x="${(index / 7) * step}" y="10">${months[new Date(at).getUTCMonth()]}</text>`]
      : [],
  );
  const said = `${counted(total, 'event')} in the last year`;
  return html`<figure class="heatmap"><svg viewBox="0 0 ${weeks * step} ${head + 7 * step}" role="img" aria-label="${said}">${names}${cells}</svg>
<figcaption class="soft">${said}.</figcaption></figure>`;
}
