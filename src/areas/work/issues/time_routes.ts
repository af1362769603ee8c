/** Time tracking of issues: estimates and time spent (docs/reference/issues.md). */
import { Type } from 'typebox';
import { issueRole, issueVisible, theIssue } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badParams, get, invalid, NotBlank, one, optional, post, withStatus } from '../../../http/index.ts';
import { addTimeSpent, parseDuration, presentTimeStats, resetTimeSpent, setTimeEstimate, TimeStats } from '../issuables/index.ts';

const path = '/projects/:id/issues/:issue_iid';
const planner = issueRole('planner');
const duration = NotBlank({
  description: 'E.g. `1w 3d 2h 14m`; a week has five days of eight hours, and a number alone means hours',
});

/** The state after a change. */
const statsOf = async (db: Database, id: number) =>
  presentTimeStats(
    await db
      .selectFrom('issues')
      .select(['time_estimate_s', 'total_time_spent_s'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow(),
  );

export const issueTimeRoutes = [
  get(`${path}/time_stats`, {
    operation: 'getIssueTimeStats',
    summary: 'Get the time tracking stats of an issue',
    access: issueVisible,
    returns: one(TimeStats),
    handle: ({ db, issue }) => statsOf(db, issue.id),
  }),
  post(`${path}/time_estimate`, {
    operation: 'setIssueTimeEstimate',
    summary: 'Set the time estimate of an issue',
    access: planner,
    input: { duration },
    returns: withStatus(200, one(TimeStats)),
    refusals: { 400: 'time_estimate: must have a valid format and be greater than or equal to zero.' },
    handle: async ({ db, caller, issue, input }) => {
      const seconds = parseDuration(input.duration);
      if (seconds === undefined || seconds < 0)
        throw invalid({ time_estimate: ['must have a valid format and be greater than or equal to zero.'] });
      await db.transaction().execute((tx) => setTimeEstimate(tx, theIssue(issue.id), caller.id, seconds));
      return statsOf(db, issue.id);
    },
  }),
  post(`${path}/reset_time_estimate`, {
    operation: 'resetIssueTimeEstimate',
    summary: 'Reset the time estimate of an issue',
    access: planner,
    returns: withStatus(200, one(TimeStats)),
    handle: async ({ db, caller, issue }) => {
      await db.transaction().execute((tx) => setTimeEstimate(tx, theIssue(issue.id), caller.id, 0));
      return statsOf(db, issue.id);
    },
  }),
  post(`${path}/add_spent_time`, {
    operation: 'addIssueSpentTime',
    summary: 'Add time spent on an issue',
    access: planner,
    input: { duration, summary: optional(Type.String({ description: 'A summary of the changes' })) },
    returns: one(TimeStats),
    refusals: { 400: 'base: Time to subtract exceeds the total time spent' },
    handle: async ({ db, caller, issue, input: { duration: text, summary } }) => {
      const seconds = parseDuration(text);
      if (seconds === undefined) throw badParams('duration is invalid');
      const isAdded = await db
        .transaction()
        .execute((tx) => addTimeSpent(tx, theIssue(issue.id), caller.id, { seconds, summary }));
      if (!isAdded && seconds < 0) throw invalid({ base: ['Time to subtract exceeds the total time spent'] });
      if (!isAdded) throw badParams('duration is invalid');
      return statsOf(db, issue.id);
    },
  }),
  post(`${path}/reset_spent_time`, {
    operation: 'resetIssueSpentTime',
    summary: 'Reset the time spent on an issue',
    access: planner,
    returns: withStatus(200, one(TimeStats)),
    handle: async ({ db, caller, issue }) => {
      await db.transaction().execute((tx) => resetTimeSpent(tx, theIssue(issue.id), caller.id));
      return statsOf(db, issue.id);
    },
  }),
];
