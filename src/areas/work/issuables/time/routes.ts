/** Time tracking: estimates and time spent (docs/reference/issues.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Issuable } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  type AnyEndpoint,
  badParams,
  get,
  invalid,
  NotBlank,
  one,
  optional,
  post,
  withArticle,
  withStatus,
} from '../../../../http/index.ts';
import type { NounWith } from '../definition.ts';
import { addTimeSpent, resetTimeSpent, setTimeEstimate } from './actions.ts';
import { parseDuration } from './duration_rules.ts';
import { presentTimeStats, TimeStats } from './present.ts';

const duration = NotBlank({
  description: 'E.g. `1w 3d 2h 14m`; a week has five days of eight hours, and a number alone means hours',
});

/** The state after a change. */
async function statsOf(db: Database, { kind, id }: Issuable) {
  const { rows } = await sql<Parameters<typeof presentTimeStats>[0]>`
    select time_estimate_s, total_time_spent_s from ${sql.table(kind.table)} where id = ${id}`.execute(db);
  return presentTimeStats(rows[0]!);
}

/** The time tracking routes of issues, or of merge requests. */
export function timeRoutes({ kind, tracker }: NounWith<'tracker'>): AnyEndpoint[] {
  const { at, name, type } = kind;
  const noun = withArticle(name);
  return [
    get(`${at.path}/time_stats`, {
      operation: `get${type}TimeStats`,
      summary: `Get the time tracking stats of ${noun}`,
      access: at.visible(),
      returns: one(TimeStats),
      handle: ({ db, on }) => statsOf(db, on),
    }),
    post(`${at.path}/time_estimate`, {
      operation: `set${type}TimeEstimate`,
      summary: `Set the time estimate of ${noun}`,
      access: tracker,
      input: { duration },
      returns: withStatus(200, one(TimeStats)),
      refusals: { 400: 'time_estimate: must have a valid format and be greater than or equal to zero.' },
      handle: async ({ db, caller, on, input }) => {
        const seconds = parseDuration(input.duration);
        if (seconds === undefined || seconds < 0)
          throw invalid({ time_estimate: ['must have a valid format and be greater than or equal to zero.'] });
        await db.transaction().execute((tx) => setTimeEstimate(tx, on, caller.id, seconds));
        return statsOf(db, on);
      },
    }),
    post(`${at.path}/reset_time_estimate`, {
      operation: `reset${type}TimeEstimate`,
      summary: `Reset the time estimate of ${noun}`,
      access: tracker,
      returns: withStatus(200, one(TimeStats)),
      handle: async ({ db, caller, on }) => {
        await db.transaction().execute((tx) => setTimeEstimate(tx, on, caller.id, 0));
        return statsOf(db, on);
      },
    }),
    post(`${at.path}/add_spent_time`, {
      operation: `add${type}SpentTime`,
      summary: `Add time spent on ${noun}`,
      access: tracker,
      input: { duration, summary: optional(Type.String({ description: 'A summary of the changes' })) },
      returns: one(TimeStats),
      refusals: { 400: 'base: Time to subtract exceeds the total time spent' },
      handle: async ({ db, caller, on, input: { duration: text, summary } }) => {
        const seconds = parseDuration(text);
        if (seconds === undefined) throw badParams('duration is invalid');
        const isAdded = await db.transaction().execute((tx) => addTimeSpent(tx, on, caller.id, { seconds, summary }));
        if (!isAdded && seconds < 0) throw invalid({ base: ['Time to subtract exceeds the total time spent'] });
        if (!isAdded) throw badParams('duration is invalid');
        return statsOf(db, on);
      },
    }),
    post(`${at.path}/reset_spent_time`, {
      operation: `reset${type}SpentTime`,
      summary: `Reset the time spent on ${noun}`,
      access: tracker,
      returns: withStatus(200, one(TimeStats)),
      handle: async ({ db, caller, on }) => {
        await db.transaction().execute((tx) => resetTimeSpent(tx, on, caller.id));
        return statsOf(db, on);
      },
    }),
  ];
}
