/** Commands on time, weight, health and severity. */
import { today } from '../../../cron/index.ts';
import { exactDay } from './day_rules.ts';
import type { Definition, Situation } from './definition.ts';

/** Whether time can be logged for a day, which is at most `today()`. */
const isPast = (day: string) => day <= today();

export const timeCommands: readonly Definition[] = [
  {
    names: ['estimate', 'estimate_time'],
    needs: 'plan',
    apply: (situation, duration) => {
      const { setTimeEstimate } = situation.operations;
      if (duration === '' || !setTimeEstimate) return undefined;
      return async () => {
        const seconds = await setTimeEstimate(duration);
        if (seconds === undefined) return undefined;
        situation.commands_changes.time_estimate = seconds;
        return `Set time estimate to ${duration}.`;
      };
    },
  },
  {
    names: ['remove_estimate', 'remove_time_estimate'],
    needs: 'plan',
    existing: true,
    apply: (situation) => {
      const { setTimeEstimate } = situation.operations;
      if (situation.before.time_estimate_s === 0 || !setTimeEstimate) return undefined;
      return async () => {
        await setTimeEstimate(null);
        situation.commands_changes.time_estimate = 0;
        return 'Removed time estimate.';
      };
    },
  },
  {
    names: ['spend', 'spent', 'spend_time'],
    needs: 'plan',
    apply: (situation, argument) => {
      const { addTimeSpent } = situation.operations;
      const [, before = '', date] = /^(.*?)(?:\s+(\d{4}-\d{2}-\d{2}))?$/.exec(argument) ?? [];
      const duration = before.trim();
      const spent_on = date === undefined ? undefined : exactDay(date);
      if (duration === '' || !addTimeSpent || (date !== undefined && (spent_on === undefined || !isPast(spent_on))))
        return undefined;
      return async () => {
        const seconds = await addTimeSpent({ duration, spent_on });
        if (seconds === undefined) return undefined;
        situation.commands_changes.spend_time = {
          duration: seconds,
          user_id: situation.caller.id,
          spent_at: spent_on ?? null,
        };
        const amount = duration.replace(/^-\s*/, '');
        return seconds < 0 ? `Subtracted ${amount} spent time.` : `Added ${amount} spent time.`;
      };
    },
  },
  {
    names: ['remove_time_spent'],
    needs: 'plan',
    existing: true,
    apply: (situation) => {
      const { resetTimeSpent } = situation.operations;
      if (situation.before.total_time_spent_s === 0 || !resetTimeSpent) return undefined;
      return async () => {
        await resetTimeSpent();
        situation.commands_changes.spend_time = { duration: 'reset', user_id: situation.caller.id };
        return 'Removed spent time.';
      };
    },
  },
];

const maximumWeight = 2 ** 31 - 1;

function setWeight({ changes, commands_changes }: Situation, weight: number | null): void {
  changes.weight = weight;
  commands_changes.weight = weight;
}

export const weightCommands: readonly Definition[] = [
  {
    names: ['weight'],
    needs: 'plan',
    plan: 'premium',
    apply: (situation, argument) => {
      const weight = /^\d{1,10}$/.test(argument) ? Number(argument) : undefined;
      if (weight === undefined || weight > maximumWeight) return undefined;
      setWeight(situation, weight);
      return `Set weight to ${weight}.`;
    },
  },
  {
    names: ['clear_weight'],
    needs: 'plan',
    plan: 'premium',
    apply: (situation) => {
      const { before, changes } = situation;
      if ((changes.weight === undefined ? before.weight : changes.weight) === null) return undefined;
      setWeight(situation, null);
      return 'Removed weight.';
    },
  },
];

const healths = ['on_track', 'needs_attention', 'at_risk'] as const;

export const healthCommands: readonly Definition[] = [
  {
    names: ['health_status'],
    needs: 'plan',
    plan: 'ultimate',
    apply: ({ changes, commands_changes }, argument) => {
      const health = healths.find((name) => name === argument.toLowerCase());
      if (health === undefined) return undefined;
      changes.health_status = health;
      commands_changes.health_status = health;
      return `Set health status to ${health}.`;
    },
  },
  {
    names: ['clear_health_status'],
    needs: 'plan',
    plan: 'ultimate',
    apply: ({ before, changes, commands_changes }) => {
      if ((changes.health_status === undefined ? before.health_status : changes.health_status) === null)
        return undefined;
      changes.health_status = null;
      commands_changes.health_status = null;
      return 'Cleared health status.';
    },
  },
];

/** Each severity by its name and its short name. */
const severities = [
  ['critical', 's1', 'CRITICAL'],
  ['high', 's2', 'HIGH'],
  ['medium', 's3', 'MEDIUM'],
  ['low', 's4', 'LOW'],
  ['unknown', '', 'UNKNOWN'],
] as const;

export const incidentCommands: readonly Definition[] = [
  {
    names: ['severity'],
    needs: 'plan',
    apply: ({ before, changes, commands_changes }, argument) => {
      if ((changes.issue_type ?? before.issue_type) !== 'incident' || argument === '') return undefined;
      const text = argument.toLowerCase();
      const found = severities.find(([name, short]) => name === text || short === text);
      if (!found) return undefined;
      const [name, , severity] = found;
      changes.severity = severity;
      commands_changes.severity = name;
      return `Severity updated to ${name[0]!.toUpperCase()}${name.slice(1)}.`;
    },
  },
  {
    names: ['promote_to_incident'],
    needs: 'report',
    apply: promoteToIncident,
  },
];

export function promoteToIncident({ before, changes, commands_changes }: Situation): string | undefined {
  if ((changes.issue_type ?? before.issue_type) !== 'issue') return undefined;
  changes.issue_type = 'incident';
  commands_changes.issue_type = 'incident';
  return 'Issue has been promoted to incident.';
}

export const trackingCommands: readonly Definition[] = [
  ...timeCommands,
  ...weightCommands,
  ...healthCommands,
  ...incidentCommands,
];
