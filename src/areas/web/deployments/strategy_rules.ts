/** The kinds of strategies in words, with the parameters that each takes. */
import type { Field } from '../../../pages/index.ts';

interface StrategyKind {
  label: string;
  /** Its parameters, by their names in the API. */
  fields: readonly Field[];
  takes_list?: true;
}

const group: Field = {
  name: 'groupId',
  label: 'Group',
  value: 'default',
  help: 'Lowercase letters. Strategies of one group choose the same users.',
  is_required: true,
};

const percentage = (name: string): Field => ({
  name,
  label: 'Percentage',
  kind: 'number',
  value: '25',
  is_required: true,
});

/** By their names in the API, in the order in which they are offered. */
export const strategyKinds: Readonly<Record<string, StrategyKind>> = {
  default: { label: 'All users', fields: [] },
  flexibleRollout: {
    label: 'Percentage',
    fields: [
      percentage('rollout'),
      {
        name: 'stickiness',
        label: 'Based on',
        kind: 'select',
        value: 'default',
        options: [
          { value: 'default', label: 'User, session or chance, what is available' },
          { value: 'userId', label: 'User' },
          { value: 'sessionId', label: 'Session' },
          { value: 'random', label: 'Chance' },
        ],
      },
      group,
    ],
  },
  gradualRolloutUserId: { label: 'Percentage of signed-in users', fields: [percentage('percentage'), group] },
  userWithId: {
    label: 'Certain users',
    fields: [
      {
        name: 'userIds',
        label: 'IDs of users',
        kind: 'area',
        help: 'Those of your application, separated by commas.',
        is_required: true,
      },
    ],
  },
  gitlabUserList: { label: 'A user list', fields: [], takes_list: true },
};
