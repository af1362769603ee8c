/** Views of milestones. */
import type { Static } from 'typebox';
import { type Content, chip, day, type Html, html, state } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Milestone } from '../../planning/milestones/index.ts';
import type { BurndownDay } from './burndown_rules.ts';

export type ShownMilestone = Static<typeof Milestone>;

/** `from 1 May to 20 May`, as far as it has dates. */
export const datesOf = ({ start_date, due_date }: ShownMilestone): Content => [
  start_date && html`from ${day(start_date)} `,
  due_date && html`${start_date ? 'to' : 'until'} ${day(due_date)}`,
];

export const milestoneState = ({ state: current, expired }: ShownMilestone): Html =>
  current === 'active' && expired ? chip('Overdue', 'clock') : state(current === 'active' ? 'opened' : 'closed');

const [width, height] = [560, 160];

/** The lines of a burndown: what was open on each day, and an even course to the last day. */
export function burndownView(days: readonly BurndownDay[], total_days: number): Html | undefined {
  const most = Math.max(...days.map(({ open }) => open), 1);
  if (days.length < 2) return undefined;
  const x = (index: number) => Math.round((index / Math.max(1, total_days - 1)) * width);
  const y = (open: number) => Math.round(height - (open / most) * height);
  const points = days.map(({ open }, index) => `${x(index)},${y(open)}`).join(' ');
  const [first, last] = [days[0]!, days.at(-1)!];
  const said = `${counted(first.open, 'open issue')} on ${first.day}, ${last.open} on ${last.day}`;
  return html`<figure class="chart"><svg viewBox="0 -4 ${width} ${height + 8}" role="img" aria-label="${said}">
<line class="ideal" x1="0" y1="${y(first.open)}" x2="${width}" y2="${height}"/>
<polyline points="${points}"/></svg>
<figcaption class="soft">${said}.</figcaption></figure>
<details><summary>As a table</summary><table><thead><tr><th scope="col">Day</th><th scope="col">Open issues</th></tr></thead><tbody>${days.map(
    ({ day: on, open }) => html`<tr><td>${on}</td><td>${open}</td></tr>`,
  )}</tbody></table></details>`;
}

/** How many of the issues are closed, as a bar and in words. */
export const progressView = (closed: number, total: number): Html | undefined =>
  total === 0
    ? undefined
    : html`<p><progress value="${closed}" max="${total}" aria-label="Closed issues"></progress> ${closed} of ${counted(total, 'issue')} closed</p>`;
