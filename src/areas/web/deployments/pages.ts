/** Deployments of a project: environments, pipelines and feature flags (docs/reference/work_pages.md). */
import { artifactPages } from './artifact_pages.ts';
import { environmentPages } from './environment_pages.ts';
import { flagPages } from './flag_pages.ts';
import { lintPages } from './lint_pages.ts';
import { pipelinePages } from './pipeline_pages.ts';
import { schedulePages } from './schedule_pages.ts';

export const deploymentPages = [
  ...environmentPages,
  ...artifactPages,
  ...pipelinePages,
  ...lintPages,
  ...schedulePages,
  ...flagPages,
];
