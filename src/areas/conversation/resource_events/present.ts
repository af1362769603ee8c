/** How resource events appear in replies (docs/reference/resource_events.md). */
import { type Static, type TProperties, Type } from 'typebox';
import { type Issuable, issuableKinds } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { Iteration, iterationsById, presentIteration } from '../../planning/iterations/index.ts';
import { LabelDetails, labelDetails, labelsById } from '../../planning/labels/index.ts';
import { Milestone, milestonesById, presentMilestone } from '../../planning/milestones/index.ts';
import type { EventKind, EventRow } from './queries.ts';

const common = {
  id: Id,
  user: nullable(UserBasic),
  created_at: Timestamp,
};
const about = { resource_type: Type.Enum(issuableKinds.map(({ type }) => type)), resource_id: Id };
const action = Type.Enum(['add', 'remove']);
const event = <P extends TProperties>(name: string, fields: P) => resource(name, { ...common, ...fields });

export const forms = {
  label: event('ResourceLabelEvent', { ...about, label: nullable(LabelDetails), action }),
  state: event('ResourceStateEvent', {
    ...about,
    source_commit: nullable(Type.String()),
    source_merge_request_id: nullable(Id),
    state: Type.Enum(['opened', 'closed', 'reopened', 'merged']),
  }),
  milestone: event('ResourceMilestoneEvent', {
    ...about,
    milestone: nullable(Milestone),
    action,
    state: Type.Enum(['opened', 'closed', 'merged']),
  }),
  weight: event('ResourceWeightEvent', { issue_id: Id, weight: nullable(Type.Integer()) }),
  iteration: event('ResourceIterationEvent', { ...about, iteration: nullable(Iteration), action }),
};
type Reply<K extends EventKind> = Static<(typeof forms)[K]>;

interface Services {
  db: Database;
  url: string;
}

function commonOf(
  url: string,
  { id, user_id, username, name, user_state, public_email, avatar, created_at }: EventRow,
) {
  const user = user_id === null ? null : { id: user_id, username, name, state: user_state, public_email, avatar };
  return { id, user: user && presentUserBasic(url, user), created_at };
}

const aboutOf = ({ kind, id }: Issuable) => ({ resource_type: kind.type, resource_id: id });

/** The ids that the rows of a page refer to. */
const ids = <Name extends string>(rows: readonly Record<Name, number | null>[], name: Name): number[] => [
  ...new Set(rows.map((row) => row[name]).filter((id) => id !== null)),
];

type Present<K extends EventKind> = (
  services: Services,
  on: Issuable,
  rows: readonly EventRow[],
) => Promise<Reply<K>[]>;

/** Rows of one kind on one issuable as replies, in a fixed number of statements. */
export const presenters: { [K in EventKind]: Present<K> } = {
  async label({ db, url }, on, rows) {
    const rowsById = await labelsById(db, ids(rows, 'label_id'));
    const labels = await labelDetails(rowsById.values());
    return rows.map((row) => ({
      ...commonOf(url, row),
      ...aboutOf(on),
      label: labels.get(row.label_id!) ?? null,
      action: row.action,
    }));
  },
  async state({ url }, on, rows) {
    return rows.map((row) => ({
      ...commonOf(url, row),
      ...aboutOf(on),
      source_commit: null,
      source_merge_request_id: null,
      state: row.state,
    }));
  },
  async milestone({ db, url }, on, rows) {
    const milestones = await milestonesById(db, ids(rows, 'milestone_id'));
    return rows.map((row) => {
      const milestone = milestones.get(row.milestone_id!);
      return {
        ...commonOf(url, row),
        ...aboutOf(on),
        milestone: milestone ? presentMilestone(url, milestone) : null,
        action: row.action,
        state: row.state as 'opened' | 'closed' | 'merged',
      };
    });
  },
  async weight({ url }, on, rows) {
    const { resource_id } = aboutOf(on);
    return rows.map((row) => ({ ...commonOf(url, row), issue_id: resource_id, weight: row.weight }));
  },
  async iteration({ db, url }, on, rows) {
    const iterations = await iterationsById(db, ids(rows, 'iteration_id'));
    return rows.map((row) => {
      const iteration = iterations.get(row.iteration_id!);
      return {
        ...commonOf(url, row),
        ...aboutOf(on),
        iteration: iteration ? presentIteration(url, iteration) : null,
        action: row.action,
      };
    });
  },
};
