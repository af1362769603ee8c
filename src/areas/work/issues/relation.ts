/** How issues leave and arrive (docs/reference/relations_export.md#issues). */
import { sql } from 'kysely';
import { issueKind } from '../../../access/index.ts';
import { membersOf } from '../../../fields/index.ts';
import {
  column,
  columnOr,
  integer,
  long,
  type Members,
  part,
  parts,
  person,
  type RecordKind,
  type Relation,
  shown,
  somebody,
} from '../../../relations/index.ts';
import { notesWithAwards } from '../../conversation/award_emoji/index.ts';
import { iterationEvents, milestoneEvents, weightEvents } from '../../conversation/resource_events/index.ts';
import { iterationReference } from '../../planning/iterations/index.ts';
import { milestoneReference } from '../../planning/milestones/index.ts';
import { epicReference, isSeenEpic } from '../epics/relation.ts';
import {
  countDiscussion,
  countWork,
  discussionColumns,
  issuableParts,
  listColumns,
  timelogs,
  workColumns,
} from '../issuables/relation.ts';
import { issueFields } from './fields.ts';
import { issueReference } from './reference_relation.ts';

const assignee: RecordKind = {
  table: 'issue_assignees',
  is_link: true,
  distinct: ['user_id'],
  members: { user_id: somebody('user_id') },
  stays: {},
};

/** An issue in an epic. */
const placeInEpic: RecordKind = {
  table: 'epic_issues',
  members: { epic: epicReference, relative_position: columnOr('relative_position', long, 0) },
  stays: {},
  isVisible: (departure) =>
    sql`exists (select from epics where epics.id = epic_issues.epic_id and ${isSeenEpic(departure)})`,
};

const own: Members = {
  ...membersOf(issueFields),
  author_id: person('author_id'),
  updated_by_id: shown(sql`null`),
  last_edited_at: shown(sql`null`),
  last_edited_by_id: shown(sql`null`),
  closed_by_id: person('closed_by_id'),
  time_estimate: columnOr('time_estimate_s', integer(0), 0),
  relative_position: column('relative_position', long),
  moved_to: issueReference('moved_to_id'),
  duplicated_to: issueReference('duplicated_to_id'),
  external_key: shown(sql`null`),
  imported_from: shown(sql`issues.imported_from`),
};

/** Issues here have no parts of this kind, but a public server expects the members. */
const none = shown(sql`'[]'::json`);

const issue: RecordKind = {
  table: 'issues',
  owner: { project: 'project_id' },
  title: 'title',
  numbered: 'issues',
  order: sql`issues.relative_position nulls last`,
  members: {
    ...own,
    work_item_type: shown(sql`json_build_object('base_type', issues.issue_type)`),
    milestone: milestoneReference,
    iteration: iterationReference,
    notes: parts(notesWithAwards(issueKind), 'issue_id'),
    ...issuableParts(issueKind),
    ...timelogs(issueKind),
    resource_milestone_events: parts(milestoneEvents, 'issue_id'),
    resource_iteration_events: parts(iterationEvents, 'issue_id'),
    resource_weight_events: parts(weightEvents, 'issue_id'),
    issue_assignees: parts(assignee, 'issue_id'),
    epic_issue: part(placeInEpic, 'issue_id'),
    zoom_meetings: none,
    designs: none,
    design_versions: none,
    sentry_issue: shown(sql`null`),
  },
  always: { imported_from: 'gitlab_migration' },
  stays: listColumns,
  isVisible: ({ caller }) =>
    sql`exists (select from projects where projects.id = issues.project_id and ${issueKind.isVisible(caller)})`,
  derives: {
    columns: { ...discussionColumns, ...workColumns },
    derive: async (rows, _arrival, tx) => {
      await countDiscussion(rows, tx);
      await countWork(rows);
      return undefined;
    },
  },
};

/** The issues of a project. */
export const issues: Relation = { name: 'issues', kind: issue, is_batched: true };
