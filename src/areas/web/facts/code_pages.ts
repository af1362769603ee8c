/** User lists of feature flags. */
import { factPage } from './definition.ts';

export const codeFactPages = [
  factPage('/:id/-/feature_flags_user_lists/:iid', {
    read: ({ described }) => described('getFeatureFlagUserList'),
    tab: 'feature_flags',
    title: ({ name }) => String(name),
  }),
];
