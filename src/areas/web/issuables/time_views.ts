/** Estimates and time spent, changed where they are read. */
import { form, html, type Seen, withQuery } from '../../../pages/index.ts';
import { afterProperty } from './form_rules.ts';
import { changedProperty, type Property } from './property_views.ts';

interface TimeStats {
  human_time_estimate: string | null;
  human_total_time_spent: string | null;
}

const property = 'time';

/** The forms by which time is tracked. */
export const timeForms = (noun: 'Issue' | 'MergeRequest') =>
  ({
    estimate: { runs: `set${noun}TimeEstimate`, next: afterProperty },
    reset_estimate: { runs: `reset${noun}TimeEstimate`, next: afterProperty },
    spend: { runs: `add${noun}SpentTime`, next: afterProperty },
    reset_spent: { runs: `reset${noun}SpentTime`, next: afterProperty },
  }) as const;

function timeInWords({ human_time_estimate: estimate, human_total_time_spent: spent }: TimeStats): string | undefined {
  if (spent && estimate) return `${spent} of ${estimate}`;
  return spent ? `${spent} spent` : estimate ? `${estimate} estimated` : undefined;
}

/** All forms at once: what was spent is added, and what was estimated is replaced. */
const formsView = (seen: Seen, { human_time_estimate, human_total_time_spent }: TimeStats) => {
  const action = withQuery(seen, { change: property });
  const resetting = { look: 'plain', action } as const;
  return html`${form(seen, 'spend', {
    fields: [
      {
        name: 'duration',
        label: 'Time spent',
        is_required: true,
        help: 'Such as 1h 30m. A day has eight hours; -30m takes some away.',
        refused_as: ['base'],
      },
      { name: 'summary', label: 'What for' },
    ],
    button: 'Add time',
    action,
  })}${human_total_time_spent && form(seen, 'reset_spent', { button: 'Remove all time spent', ...resetting })}
${form(seen, 'estimate', {
  fields: [
    {
      name: 'duration',
      label: 'Estimate',
      is_required: true,
      value: human_time_estimate,
      refused_as: ['time_estimate'],
    },
  ],
  button: 'Save estimate',
  look: 'plain',
  action,
})}${human_time_estimate && form(seen, 'reset_estimate', { button: 'Remove the estimate', ...resetting })}`;
};

/** The property with its forms. */
export const timeProperty = (seen: Seen, stats: TimeStats): Property => ({
  name: property,
  label: 'Time',
  needs: 'estimate',
  shown: timeInWords(stats),
  ...(changedProperty(seen.query) === property && { forms: formsView(seen, stats) }),
});
