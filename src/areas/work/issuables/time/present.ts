/** The estimate and the time spent on an item in replies. */
import { type Static, Type } from 'typebox';
import { nullable, resource } from '../../../../http/index.ts';
import { printDuration } from './duration_rules.ts';

export const TimeStats = resource('TimeStats', {
  time_estimate: Type.Integer({ description: 'Seconds' }),
  total_time_spent: Type.Integer({ description: 'Seconds' }),
  human_time_estimate: nullable(Type.String()),
  human_total_time_spent: nullable(Type.String()),
});

/** @param columns the columns of the item */
export const presentTimeStats = ({
  time_estimate_s,
  total_time_spent_s,
}: {
  time_estimate_s: number;
  total_time_spent_s: number;
}): Static<typeof TimeStats> => ({
  time_estimate: time_estimate_s,
  total_time_spent: total_time_spent_s,
  human_time_estimate: printDuration(time_estimate_s),
  human_total_time_spent: printDuration(total_time_spent_s),
});
