/** How epics leave and arrive (docs/reference/relations_export.md#epics). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { epicKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { membersOf } from '../../../fields/index.ts';
import { maximumIid } from '../../../http/index.ts';
import {
  type Arrival,
  column,
  type Departure,
  isText,
  late,
  long,
  type Member,
  type Members,
  parts,
  person,
  type RecordKind,
  type Relation,
  reference,
  shown,
} from '../../../relations/index.ts';
import { notesWithAwards } from '../../conversation/award_emoji/index.ts';
import { countDiscussion, discussionColumns, issuableParts } from '../issuables/relation.ts';
import { epicFields } from './fields.ts';
import { mayBeBelow } from './parent_actions.ts';
import { endsBeforeStart, type FixedDates } from './rules.ts';

const own: Members = {
  ...membersOf(epicFields),
  author_id: person('author_id'),
  start_date: shown(sql`case when epics.start_date_is_fixed then epics.start_date_fixed end`),
  end_date: shown(sql`case when epics.due_date_is_fixed then epics.due_date_fixed end`),
  relative_position: column('relative_position', long),
  closed_by_id: person('closed_by_id'),
};

/** A predicate on rows of `epics`: the reader of the export may see the epic. */
export const isSeenEpic = ({ caller }: Departure): RawBuilder<SqlBool> =>
  sql`exists (select from namespaces where namespaces.id = epics.group_id and ${epicKind.isVisible(caller)})`;

const isIid = (value: unknown): value is number => Number.isInteger(value) && Math.abs(value as number) <= maximumIid;

/** A parent epic in the same group. Set one by one: each change affects the tree that the next must fit into. */
const parentEpic: Member = {
  ...late(
    'parent_id',
    (departure) => sql`(
      select json_build_object('iid', epics.iid, 'title', epics.title) from (select epics.parent_id as id, epics.group_id) child
        join epics on epics.id = child.id and epics.group_id = child.group_id where ${isSeenEpic(departure)})`,
    async (tx, { owner }, [child]) => {
      const { iid, title } = (child!.wanted ?? {}) as { iid?: unknown; title?: unknown };
      if (!isIid(iid) || !isText(title)) return new Map();
      const found = tx.selectFrom('epics').select('id').where('group_id', '=', owner.id).where('iid', '=', iid);
      const parent = await found.where('title', '=', title).executeTakeFirst();
      return parent && (await mayBeBelow(tx, child!.id, parent.id)) ? new Map([[child!.id, parent.id]]) : new Map();
    },
  ),
  is_alone: true,
};

const epic: RecordKind = {
  table: 'epics',
  owner: { group: 'group_id' },
  title: 'title',
  numbered: 'epics',
  members: {
    ...own,
    parent: parentEpic,
    ...issuableParts(epicKind),
    notes: parts(notesWithAwards(epicKind), 'epic_id'),
  },
  always: { imported_from: 'gitlab_migration' },
  stays: {},
  isVisible: isSeenEpic,
  refuse: (row) =>
    endsBeforeStart(row as unknown as FixedDates) ? 'due_date_fixed must be after start_date_fixed' : undefined,
  derives: {
    columns: discussionColumns,
    derive: async (rows, _arrival, tx) => {
      await countDiscussion(rows, tx);
      return undefined;
    },
  },
};

/** The epics with these numbers and titles in the ancestor groups of a project; the nearest group wins. */
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
