/** Environments of a project, and what is deployed to them (docs/reference/environments.md#the-pages). */
import type { Values } from '../../../http/index.ts';
import { type PageCall, page, pagingOf } from '../../../pages/index.ts';
import {
  Deployment,
  DeploymentDetails,
  Environment,
  EnvironmentInList,
  environmentPage as environmentAddress,
} from '../../deployments/environments/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { fieldsOf, formOf, sectionPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { readsCode } from './definition.ts';
import { deploymentView, environmentsView, environmentView } from './environment_views.ts';

const environmentsPage = page('/:id/-/environments', {
  load: async ({ list, may, params, query }) => {
    const [environments, mayCreate] = await Promise.all([
      list(EnvironmentInList, 'listEnvironments', pagingOf({ query })),
      may('createEnvironment'),
    ]);
    return { id: params.id!, environments, mayCreate };
  },
  view: environmentsView,
});

const toEnvironments = (_: unknown, { params }: PageCall) => environmentAddress(params.id!, '').replace(/\/$/, '');

const environmentPage = page('/:id/-/environments/:environment_id', {
  async load(call) {
    const { one, list, may, params, query } = call;
    const environment = await one(Environment, 'getEnvironment');
    const asked = { ...pagingOf({ query }), environment: environment.name, sort: 'desc' };
    const [deployments, reads_code, mayEdit] = await Promise.all([
      list(Deployment, 'listDeployments', asked),
      readsCode(call),
      may('updateEnvironment'),
    ]);
    return { id: params.id!, environment, deployments, reads_code, mayEdit };
  },
  forms: { stop: { runs: 'stopEnvironment' }, remove: { runs: 'deleteEnvironment', next: toEnvironments } },
  view: environmentView,
});

const deploymentPage = page('/:id/-/deployments/:deployment_id', {
  async load(call) {
    const { one, list, perhaps, params, query } = call;
    const [deployment, merge_requests, reads_code] = await Promise.all([
      one(DeploymentDetails, 'getDeployment'),
      perhaps(list(MergeRequestInList, 'listMergeRequestsOfDeployment', pagingOf({ query }))),
      readsCode(call),
    ]);
    return { id: params.id!, deployment, merge_requests, reads_code };
  },
  forms: {
    approve: { runs: 'approveDeployment', parameters: { status: 'approved' } },
    reject: { runs: 'approveDeployment', parameters: { status: 'rejected' } },
  },
  view: deploymentView,
});

const fields = fieldsOf({
  external_url: { label: 'Address', help: 'Where it can be seen.' },
  tier: { help: 'By default, what the name suggests.' },
  description: { kind: 'markdown', help: 'Markdown.' },
  auto_stop_at: { label: 'Stops by itself', help: 'In UTC. A deployment moves it on.' },
});

const tab = 'environments';
const toEnvironment = ({ id }: Values, { params }: PageCall) => environmentAddress(params.id!, Number(id));

const newEnvironmentPage = sectionPage(
  '/:id/-/environments/new',
  { tab, operation: 'createEnvironment', title: 'New environment' },
  [
    formPart(
      'environment',
      formOf('createEnvironment', { name: {}, ...fields }, { button: 'Create environment', next: toEnvironment }),
    ),
  ],
);

const editEnvironmentPage = sectionPage(
  '/:id/-/environments/:environment_id/edit',
  {
    ...{ tab, operation: 'updateEnvironment', title: 'Environments' },
    titled: async ({ one }) => `Edit ${(await one(Environment, 'getEnvironment')).name}`,
  },
  [
    formPart('environment', {
      ...formOf('updateEnvironment', fields, { button: 'Save environment', next: toEnvironment }),
      reads: reading('getEnvironment'),
    }),
  ],
);

const cleanUpPage = sectionPage(
  '/:id/-/environments/clean_up',
  { tab, operation: 'deleteReviewApps', title: 'Clean up' },
  [
    formPart(
      'stop_stale',
      formOf(
        'stopStaleEnvironments',
        { before: { label: 'Neither changed nor deployed to since', help: 'In UTC, at least a week ago.' } },
        {
          heading: 'Stop what is not used any more',
          intro: 'Protected environments stay.',
          button: 'Stop them',
          done: 'They are stopped.',
        },
      ),
    ),
    formPart(
      'delete_review_apps',
      formOf(
        'deleteReviewApps',
        { before: { label: 'Created before', help: 'In UTC; 30 days ago if left empty.' } },
        {
          heading: 'Delete stopped review apps',
          intro: 'Stopped environments whose names begin with review/ are deleted in a week, with their deployments.',
          button: 'Delete them',
          look: 'danger',
          parameters: { dry_run: false },
          done: 'They are deleted in a week, unless something is deployed to them.',
        },
      ),
    ),
  ],
);

export const environmentPages = [
  newEnvironmentPage,
  cleanUpPage,
  editEnvironmentPage,
  environmentPage,
  environmentsPage,
  deploymentPage,
];
