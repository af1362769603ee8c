/** Feature flags of a project, their user lists, and what applications are configured with (docs/reference/feature_flags.md#the-pages). */
import { pageBelow } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { facts, html, type PageCall, page, pagingOf, redirect, time } from '../../../pages/index.ts';
import { FeatureFlag } from '../../deployments/feature_flags/index.ts';
import { fieldsOf, formOf, part, sectionPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { flagsView } from './flag_views.ts';
import { strategiesPart } from './strategy_present.ts';

const tab = 'feature_flags';

const flagsPage = page('/:id/-/feature_flags', {
  load: async ({ list, may, params, query }) => {
    const [flags, mayConnect] = await Promise.all([
      list(FeatureFlag, 'listFeatureFlags', pagingOf({ query })),
      may('getFeatureFlagsClient'),
    ]);
    return { id: params.id!, flags, mayConnect };
  },
  forms: { switch: { runs: 'updateFeatureFlag' } },
  view: flagsView,
});

const fields = fieldsOf({
  name: { help: 'Lowercase letters, digits, _ and -.' },
  description: {},
  active: { label: 'Switched on', help: undefined },
});

const flagsAddress = ({ params }: PageCall) => pageBelow.project(params.id!, 'feature_flags');
const toFlag = ({ name }: Values, call: PageCall) => `${flagsAddress(call)}/${String(name)}/edit`;

const newFlagPage = sectionPage(
  '/:id/-/feature_flags/new',
  { tab, operation: 'createFeatureFlag', title: 'New feature flag' },
  [
    formPart(
      'flag',
      formOf('createFeatureFlag', fields, {
        intro: 'It is for everyone at first. The next page says for whom else it can be.',
        parameters: { strategies: [{ name: 'default', parameters: {} }] },
        button: 'Create feature flag',
        next: toFlag,
      }),
    ),
  ],
);

const editFlagPage = sectionPage(
  '/:id/-/feature_flags/:feature_flag_name/edit',
  {
    ...{ tab, operation: 'updateFeatureFlag', title: 'Feature flags' },
    titled: async ({ one }) => (await one(FeatureFlag, 'getFeatureFlag')).name,
  },
  [
    strategiesPart,
    formPart('flag', {
      ...formOf('updateFeatureFlag', fields, { heading: 'About it', button: 'Save feature flag', next: toFlag }),
      reads: reading('getFeatureFlag'),
    }),
    formPart(
      'remove',
      formOf(
        'deleteFeatureFlag',
        {},
        {
          heading: 'Delete it',
          intro: 'Applications do not get it any more.',
          button: 'Delete feature flag',
          look: 'danger',
          next: (_, call) => flagsAddress(call),
        },
      ),
    ),
  ],
);

const clientPage = sectionPage(
  '/:id/-/feature_flags/client',
  { tab, operation: 'getFeatureFlagsClient', title: 'Connect an application' },
  [
    part<Values>({
      load: reading('getFeatureFlagsClient'),
      view: ({ unleash_url, instance_id, last_seen_at, sdk }) =>
        html`<p class="soft">Any SDK of Unleash is configured with these; the name of the application is its environment.</p>
${facts([
  ['Address', html`<code>${String(unleash_url)}</code>`],
  ['Instance ID', instance_id !== null && html`<code>${String(instance_id)}</code>`],
  ['Last seen', last_seen_at !== null && time(String(last_seen_at))],
  ['By', sdk !== null && String(sdk)],
])}`,
    }),
    formPart(
      'reset',
      formOf(
        'resetFeatureFlagsClientToken',
        {},
        {
          heading: 'Another instance ID',
          intro: 'Applications with the present one get no flags any more.',
          button: 'Replace the instance ID',
          look: 'danger',
          done: 'The instance ID is replaced.',
        },
      ),
    ),
  ],
);

const listFields = fieldsOf({
  name: {},
  user_xids: { label: 'IDs of users', kind: 'area', help: 'Those of your application, separated by commas.' },
});

const userListsPage = sectionPage(
  '/:id/-/feature_flags_user_lists',
  { tab, operation: 'listFeatureFlagUserLists', title: 'User lists' },
  [
    listPart('list', {
      list: 'listFeatureFlagUserLists',
      intro: 'Users of an application, for strategies of several feature flags.',
      names: ({ iid }) => ({ iid: Number(iid) }),
      title: 'name',
      head: ({ name, path }) => html`<a class="title" href="${String(path)}">${String(name)}</a>`,
      line: ['user_xids'],
      empty: 'There are no user lists.',
      create: formOf('createFeatureFlagUserList', listFields, { button: 'Add the list', heading: 'New user list' }),
      edit: formOf('updateFeatureFlagUserList', listFields, { button: 'Save' }),
      buttons: {
        remove: { runs: 'deleteFeatureFlagUserList', label: 'Delete', look: 'danger', done: 'The list is deleted.' },
      },
    }),
  ],
);

export const flagPages = [
  newFlagPage,
  clientPage,
  editFlagPage,
  flagsPage,
  redirect('/:id/-/feature_flags_user_lists/:iid/edit', ({ path, params }) =>
    path.replace(/\/[^/]+\/edit$/, `?edit_list=${params.iid}`),
  ),
  userListsPage,
];
