/** How boards and their lists leave and arrive (docs/reference/relations_export.md#boards). */
import { sql } from 'kysely';
import { isUsable } from '../../../access/index.ts';
import {
  type ArrivingRow,
  account,
  choice,
  column,
  columnOr,
  flag,
  integer,
  parts,
  person,
  type RecordKind,
  type Relation,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { iterationReference } from '../../planning/iterations/index.ts';
import { formerLabel } from '../../planning/labels/index.ts';
import { milestoneReference } from '../../planning/milestones/index.ts';

const targets = ['label_id', 'user_id', 'milestone_id', 'iteration_id'];

const stamps = { created_at: required('created_at', time), updated_at: required('updated_at', time) };

const list: RecordKind = {
  table: 'board_lists',
  distinct: targets,
  order: sql`board_lists.position`,
  members: {
    list_type: shown(sql`
      case when board_lists.label_id is not null then 'label' when board_lists.user_id is not null then 'assignee'
           when board_lists.milestone_id is not null then 'milestone' else 'iteration' end`),
    label: formerLabel,
    user_id: account('user_id'),
    milestone: milestoneReference,
    iteration: iterationReference,
    position: columnOr('position', integer(0), 0),
    max_issue_count: columnOr('max_issue_count', integer(0, 1_000_000), 0),
    max_issue_weight: columnOr('max_issue_weight', integer(0, 1_000_000), 0),
    limit_metric: column('limit_metric', choice('all_metrics', 'issue_count', 'issue_weights')),
    ...stamps,
  },
  stays: {},
  derives: {
    columns: {},
    derive: (rows: readonly ArrivingRow[]) =>
      new Map(
        rows
          .filter(({ row }) => targets.filter((name) => (row[name] ?? null) !== null).length !== 1)
          .map((row) => [row, 'names nothing that exists here']),
      ),
  },
};

const label: RecordKind = {
  table: 'board_labels',
  is_link: true,
  distinct: ['label_id'],
  members: { label: { ...formerLabel, is_required: true } },
  stays: {},
};

const board: RecordKind = {
  table: 'boards',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'name',
  isVisible: ({ caller }) => sql`
    (boards.project_id is null
     or exists (select from projects where projects.id = boards.project_id and ${isUsable(caller, 'issues')}))`,
  members: {
    name: required(
      'name',
      text((name) => tooLong(name, 255)),
    ),
    hide_backlog_list: columnOr('hide_backlog_list', flag, false),
    hide_closed_list: columnOr('hide_closed_list', flag, false),
    assignee_id: person('assignee_id'),
    assignee_wildcard: column('assignee_wildcard', choice('none')),
    milestone: milestoneReference,
    milestone_wildcard: column('milestone_wildcard', choice('none', 'upcoming', 'started')),
    iteration: iterationReference,
    weight: column('weight', integer(-2, 9)),
    board_labels: parts(label, 'board_id'),
    lists: {
      ...parts(list, 'board_id'),
      // Other servers export rows for the two fixed columns.
      given: ({ lists }) =>
        Array.isArray(lists) ? lists.filter((each) => !['backlog', 'closed'].includes(each?.list_type)) : [],
    },
    ...stamps,
  },
  stays: {},
};

/** The boards of a project or group, with their lists. */
export const boards: Relation = { name: 'boards', kind: board };
