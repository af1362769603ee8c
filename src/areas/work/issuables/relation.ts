/** Parts of the export and import shared by issues, epics and merge requests (docs/reference/relations_export.md#issues). */
import { sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { taskCompletion } from '../../../markdown/index.ts';
import {
  type ArrivingRow,
  column,
  integer,
  type Members,
  parts,
  type RecordKind,
  required,
  shown,
  somebody,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { eventsAbout } from '../../activity/events/index.ts';
import { awardsOf } from '../../conversation/award_emoji/index.ts';
import { labelEvents, stateEvents } from '../../conversation/resource_events/index.ts';
import { borneLabel } from '../../planning/labels/index.ts';

/** A time tracking entry. */
const timelog: RecordKind = {
  table: 'timelogs',
  members: {
    time_spent: required('time_spent_s', integer()),
    user_id: somebody('user_id'),
    spent_at: required('spent_at', time),
    summary: column(
      'summary',
      text((summary) => tooLong(summary, 1_048_576)),
    ),
    created_at: required('created_at', time),
    updated_at: shown(sql`null`),
  },
  stays: {},
};

/** The time tracking entries of a kind. */
export const timelogs = ({ column: key }: IssuableKind): Members => ({ timelogs: parts(timelog, key) });

/** The parts of every issuable besides its own columns and its notes. */
export const issuableParts = ({ type, table, column: key, labels }: IssuableKind): Members => ({
  events: parts(eventsAbout(type), 'target_id'),
  label_links: parts(borneLabel(labels, type), key),
  resource_label_events: parts(labelEvents, key),
  resource_state_events: parts(stateEvents, key),
  award_emoji: parts(awardsOf({ type, table, column: key }), key),
});

const awarded = (awards: readonly ArrivingRow[] = [], name: string) =>
  awards.filter(({ row }) => row.name === name).length;

/** Counts the comments and votes imported with items, so that the counting triggers need not update the row again for each. */
export async function countDiscussion(rows: readonly ArrivingRow[], tx: Database): Promise<void> {
  await sql`select set_config('coppice.arrives_counted', 'yes', true)`.execute(tx);
  for (const { row, parts: of } of rows) {
    row.user_notes_count = (of.notes ?? []).filter((note) => note.row.system !== true).length;
    row.upvotes = awarded(of.award_emoji, 'thumbsup');
    row.downvotes = awarded(of.award_emoji, 'thumbsdown');
  }
}

/** The columns set by `countDiscussion`. */
export const discussionColumns = { user_notes_count: 'integer', upvotes: 'integer', downvotes: 'integer' } as const;

const largest = 2 ** 31 - 1;

/** Counts the tasks in the descriptions of items, and sums their time spent. */
export async function countWork(rows: readonly ArrivingRow[]): Promise<void> {
  for (const { row, parts: of } of rows) {
    const { count, completed_count } = await taskCompletion(row.description as string | null);
    const spent_s = (of.timelogs ?? []).reduce((sum, each) => sum + (each.row.time_spent_s as number), 0);
    row.task_count = count;
    row.completed_task_count = completed_count;
    row.total_time_spent_s = Math.min(Math.max(spent_s, 0), largest);
  }
}

/** The columns set by `countWork`. */
export const workColumns = {
  task_count: 'integer',
  completed_task_count: 'integer',
  total_time_spent_s: 'integer',
} as const;

/** Copied columns for sorting and filtering in lists. */
export const listColumns = {
  milestone_due_date: 'the due date of its milestone',
  label_priority: 'the best priority of its labels',
};
