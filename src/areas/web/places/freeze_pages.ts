/** Freeze periods, with a calendar of what they freeze, also before they are saved (docs/reference/freeze_periods.md#the-page). */
import { ianaZone } from '../../../cron/index.ts';
import type { Values } from '../../../http/index.ts';
import { type Content, html, type PageCall, textIn, time } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { type FreezePeriod, frozenSpans, periodReasons } from '../../deployments/freeze_periods/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { type CalendarDay, type FrozenSpan, shownSpan, shownWeeks, weeksOf } from './calendar_rules.ts';

const frozenNow = part({
  load: reading('getFreezeStatus'),
  view: ({ frozen: isFrozen, until, next_start }) =>
    html`<p class="notice">${
      isFrozen === true
        ? html`Deployments are frozen now${until !== null && html`, until ${time(String(until))}`}.`
        : html`Nothing is frozen now.`
    }${next_start !== null && html` The next freeze begins ${time(String(next_start))}.`}</p>`,
});

const periodFields = fieldsOf({
  freeze_start: { label: 'Begins' },
  freeze_end: { label: 'Ends' },
  cron_timezone: { label: 'Time zone' },
});

/** The period that is filled in to be tried. */
const triedIn = ({ query }: PageCall): FreezePeriod | undefined =>
  textIn(query, 'try') === undefined
    ? undefined
    : {
        freeze_start: textIn(query, 'freeze_start') ?? '',
        freeze_end: textIn(query, 'freeze_end') ?? '',
        cron_timezone: textIn(query, 'cron_timezone') ?? 'UTC',
      };

interface Calendar {
  weeks: CalendarDay[][];
  spans: readonly FrozenSpan[];
  /** Whether all freezes of the weeks are in it. */
  is_complete: boolean;
  zone: string;
  is_trial: boolean;
}

/** The calendar of the stored periods, and of the one that is tried; or why that one cannot be. */
async function calendarFor(call: PageCall): Promise<Calendar | string | undefined> {
  const { items } = (await reading('listFreezePeriods', { per_page: 100 })(call)) as unknown as {
    items: readonly FreezePeriod[];
  };
  const tried = triedIn(call);
  const reasons = Object.entries(tried ? periodReasons(tried) : {});
  if (reasons.length > 0)
    return reasons
      .map(([name, texts]) => `${periodFields[name as keyof FreezePeriod].label} ${texts.join(', ').trim()}`)
      .join('; ');
  const periods = tried ? [...items, tried] : items;
  if (periods.length === 0) return undefined;
  const zone = ianaZone((tried ?? periods[0]!).cron_timezone) ?? 'UTC';
  const now = new Date();
  const { from, until } = shownSpan(zone, now);
  const { spans, is_complete } = await frozenSpans(periods, from, until);
  return { weeks: weeksOf(spans, zone, now), spans, is_complete, zone, is_trial: tried !== undefined };
}

const hour_ms = 3_600_000;
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `4`, and on the first of a month, or at the top, `1 Dec`. */
function dayInWords(on: string, isFirst: boolean): string {
  const [, month, day] = on.split('-').map(Number);
  return isFirst || day === 1 ? `${day} ${months[month! - 1]}` : String(day);
}

const dayView = ({ on, is_past, frozen }: CalendarDay, isFirst: boolean): Content =>
  html`<td ?class="${frozen ? 'frozen' : is_past && 'soft'}"><time datetime="${on}">${dayInWords(on, isFirst)}</time>${frozen && html` <div>${frozen}</div>`}</td>`;

function calendarView({ weeks, spans, is_complete, zone, is_trial }: Calendar): Content {
  const hours = Math.round(spans.reduce((sum, { from, until }) => sum + until.getTime() - from.getTime(), 0) / hour_ms);
  const sentence =
    spans.length === 0
      ? `Nothing is frozen in the next ${shownWeeks} weeks.`
      : `${is_complete ? 'Frozen' : 'Frozen more than'} ${counted(spans.length, 'time')} in the next ${shownWeeks} weeks, ${counted(hours, 'hour')} together.`;
  return html`<section><h2>${is_trial ? 'Tried, not saved' : 'Calendar'}</h2>
<p ?class="${is_trial && 'notice'}" ?role="${is_trial && 'status'}">${sentence} <span class="soft">Times of ${zone}.</span></p>
<table class="calendar"><thead><tr>${weekdays.map(
    (name) =>
      html`<th scope="col"><span aria-hidden="true">${name.slice(0, 2)}</span><span class="visually-hidden">${name}</span></th>`,
  )}</tr></thead>
<tbody>${weeks.map(
    (days, week) => html`<tr>${days.map((each, weekday) => dayView(each, week === 0 && weekday === 0))}</tr>
`,
  )}</tbody></table></section>`;
}

const calendar = part<Calendar | string>({
  load: calendarFor,
  view: (shown) =>
    typeof shown === 'string' ? html`<p class="refusal" role="status">${shown}</p>` : calendarView(shown),
});

export const freezePeriodsPage = settingsPage('project', 'freeze_periods', [
  frozenNow,
  listPart('period', {
    list: 'listFreezePeriods',
    names: ({ id }) => ({ freeze_period_id: Number(id) }),
    title: ({ freeze_start, freeze_end }) => `${freeze_start} – ${freeze_end}`,
    head: ({ freeze_start, freeze_end }) =>
      html`From <code>${String(freeze_start)}</code> to <code>${String(freeze_end)}</code>`,
    line: ['cron_timezone'],
    empty: 'There are no freeze periods.',
    create: formOf('createFreezePeriod', periodFields, {
      button: 'Add the period',
      heading: 'New freeze period',
      tries: { name: 'try', button: 'Try without saving' },
      starts: async (call) => (triedIn(call) ?? {}) as Values,
    }),
    edit: formOf('updateFreezePeriod', periodFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteFreezePeriod', label: 'Delete', look: 'danger', done: 'The period is deleted.' },
    },
  }),
  calendar,
]);
