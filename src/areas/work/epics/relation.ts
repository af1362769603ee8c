/** How epics leave and arrive (docs/reference/relations_export.md#epics). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { epicKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Arrival,
  choice,
  column,
  columnOr,
  type Departure,
  day,
  flag,
  integer,
  long,
  type Member,
  type Members,
  markdown,
  parts,
  person,
  type RecordKind,
  type Relation,
  reference,
  required,
  shown,
  spelled,
  text,
  time,
} from '../../../relations/index.ts';
import { descriptionReasons, titleReasons } from '../../../texts/index.ts';
import { notesWithAwards } from '../../conversation/award_emoji/index.ts';
import { colorFrom, colorReasons } from '../../planning/labels/index.ts';
import { countDiscussion, discussionColumns, issuableParts } from '../issuables/index.ts';
import { endsBeforeStart, type FixedDates } from './rules.ts';

const own: Members = {
  iid: required('iid', integer(1)),
  title: required('title', text(titleReasons)),
  description: column('description', markdown(descriptionReasons)),
  state: columnOr('state', choice('opened', 'closed'), 'opened'),
  author_id: person('author_id'),
  confidential: columnOr('confidential', flag, false),
  color: columnOr(
    'color',
    spelled(colorReasons, (color) => colorFrom(color)!),
    '#1068bf',
  ),
  start_date: shown(sql`case when epics.start_date_is_fixed then epics.start_date_fixed end`),
  end_date: shown(sql`case when epics.due_date_is_fixed then epics.due_date_fixed end`),
  start_date_fixed: column('start_date_fixed', day),
  due_date_fixed: column('due_date_fixed', day),
  start_date_is_fixed: columnOr('start_date_is_fixed', flag, false),
  due_date_is_fixed: columnOr('due_date_is_fixed', flag, false),
  relative_position: column('relative_position', long),
  closed_at: column('closed_at', time),
  closed_by_id: person('closed_by_id'),
  created_at: required('created_at', time),
  updated_at: required('updated_at', time),
};

/** A predicate on rows of `epics`: who reads the export may see the epic. */
export const isSeenEpic = ({ caller }: Departure): RawBuilder<SqlBool> =>
  sql`exists (select from namespaces where namespaces.id = epics.group_id and ${epicKind.isVisible(caller)})`;

const epic: RecordKind = {
  table: 'epics',
  owner: { group: 'group_id' },
  title: 'title',
  numbered: 'epics',
  members: { ...own, ...issuableParts(epicKind), notes: parts(notesWithAwards(epicKind), 'epic_id') },
  always: { imported_from: 'gitlab_migration' },
  stays: { parent_id: 'a relation of its own' },
  isVisible: isSeenEpic,
  refuse: (row) => (endsBeforeStart(row as unknown as FixedDates) ? 'due_date_fixed must be after start_date_fixed' : undefined),
  derives: {
    columns: discussionColumns,
    derive: async (rows, _arrival, tx) => {
      await countDiscussion(rows, tx);
      return undefined;
    },
  },
};

/** The epics of the groups above a project that have these numbers and titles; that of the nearest group. */
async function findEpics(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const asked = wanted.map(({ iid, title }, index) => ({ index, iid: Number(iid) || 0, title: String(title ?? '') }));
  const { rows } = await sql<{ index: number; id: number }>`
    select distinct on (index) index, epics.id
      from json_to_recordset(${JSON.stringify(asked)}::json) asked(index integer, iid double precision, title text),
           projects join namespaces parent on parent.id = projects.namespace_id
           join epics on epics.group_id = any(parent.traversal_ids)
     where projects.id = ${owner.id} and epics.iid = asked.iid and epics.title = asked.title
     order by index, array_position(parent.traversal_ids, epics.group_id) desc`.execute(tx);
  const ids = new Map(rows.map(({ index, id }) => [index, id]));
  return wanted.map((_, index) => ids.get(index) ?? null);
}

/** A member with the epic of an issue. */
export const epicReference: Member = {
  ...reference('epic_id', { table: 'epics', members: own, stays: {}, isVisible: isSeenEpic }, findEpics),
  is_required: true,
};

/** The epics of a group. */
export const epics: Relation = { name: 'epics', kind: epic, is_batched: true, plan: 'premium' };
