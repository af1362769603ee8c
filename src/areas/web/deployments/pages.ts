/** Deployments of a project: environments, pipelines and feature flags (docs/reference/work_pages.md). */
import { type PageCall, page, pagingOf } from '../../../pages/index.ts';
import { Job } from '../../code/jobs/index.ts';
import { Pipeline, PipelineDetail } from '../../code/pipelines/index.ts';
import { Deployment, Environment, EnvironmentInList } from '../../deployments/environments/index.ts';
import { FeatureFlag } from '../../deployments/feature_flags/index.ts';
import { environmentsView, environmentView, flagsView, pipelinesView, pipelineView } from './views.ts';

/** Whether commits link to the code. */
const readsCode = ({ may }: PageCall): Promise<boolean> => may('listCommits');

const environmentsPage = page('/:id/-/environments', {
  load: async ({ list, params, query }) => ({
    id: params.id!,
    environments: await list(EnvironmentInList, 'listEnvironments', pagingOf({ query })),
  }),
  view: environmentsView,
});

const environmentPage = page('/:id/-/environments/:environment_id', {
  async load(call) {
    const { one, list, params, query } = call;
    const environment = await one(Environment, 'getEnvironment');
    const asked = { ...pagingOf({ query }), environment: environment.name, sort: 'desc' };
    const [deployments, reads_code] = await Promise.all([list(Deployment, 'listDeployments', asked), readsCode(call)]);
    return { id: params.id!, environment, deployments, reads_code };
  },
  view: environmentView,
});

const pipelinesPage = page('/:id/-/pipelines', {
  async load(call) {
    const { list, params, query } = call;
    const [pipelines, reads_code] = await Promise.all([
      list(Pipeline, 'listPipelines', pagingOf({ query })),
      readsCode(call),
    ]);
    return { id: params.id!, pipelines, reads_code };
  },
  view: pipelinesView,
});

const pipelinePage = page('/:id/-/pipelines/:pipeline_id', {
  async load(call) {
    const { one, list, params, query } = call;
    const [pipeline, jobs, reads_code] = await Promise.all([
      one(PipelineDetail, 'getPipeline'),
      list(Job, 'listPipelineJobs', pagingOf({ query })),
      readsCode(call),
    ]);
    return { id: params.id!, pipeline, jobs, reads_code };
  },
  view: pipelineView,
});

const flagsPage = page('/:id/-/feature_flags', {
  load: async ({ list, params, query }) => ({
    id: params.id!,
    flags: await list(FeatureFlag, 'listFeatureFlags', pagingOf({ query })),
  }),
  view: flagsView,
});

export const deploymentPages = [environmentPage, environmentsPage, pipelinePage, pipelinesPage, flagsPage];
