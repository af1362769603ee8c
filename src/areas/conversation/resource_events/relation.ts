/**
 * How resource events are exported and imported with their targets
 * (docs/reference/relations_export.md#resource_events).
 */
import { choice, column, integer, person, type RecordKind, required, time } from '../../../relations/index.ts';
import { iterationReference } from '../../planning/iterations/index.ts';
import { formerLabel } from '../../planning/labels/index.ts';
import { milestoneReference } from '../../planning/milestones/index.ts';

const who = { user_id: person('user_id'), created_at: required('created_at', time) };
const action = required('action', choice('add', 'remove'));

/** A label that was deleted since is null. */
export const labelEvents: RecordKind = {
  table: 'resource_label_events',
  members: { action, ...who, label: formerLabel },
  stays: {},
};

export const milestoneEvents: RecordKind = {
  table: 'resource_milestone_events',
  members: {
    action,
    state: required('state', choice('opened', 'closed', 'merged')),
    ...who,
    milestone: milestoneReference,
  },
  stays: {},
};

export const stateEvents: RecordKind = {
  table: 'resource_state_events',
  members: { state: required('state', choice('opened', 'closed', 'reopened', 'merged')), ...who },
  stays: {},
};

export const iterationEvents: RecordKind = {
  table: 'resource_iteration_events',
  members: { action, ...who, iteration: iterationReference },
  stays: {},
};

export const weightEvents: RecordKind = {
  table: 'resource_weight_events',
  members: { weight: column('weight', integer(0)), ...who },
  stays: {},
};
