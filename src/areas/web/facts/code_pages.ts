/** Snippets, errors, vulnerabilities, dependencies, environments, pipelines and feature flags. */
import type { Values } from '../../../http/index.ts';
import { type Content, filePage, html, person, redirect, time } from '../../../pages/index.ts';
import { environmentPage } from '../../deployments/environments/index.ts';
import { factPage } from './definition.ts';
import { titleLine } from './planning_pages.ts';

const errorLine = ({ title, web_url, status, events_count, last_seen_at }: Values): Content =>
  html`<a href="${new URL(String(web_url)).pathname}">${String(title)}</a> <span class="label">${String(status)}</span>
<div class="soft">${String(events_count)} events, the last one ${time(String(last_seen_at))}</div>`;

const vulnerabilityLine = ({ name, url, severity, state }: Values): Content =>
  html`<a href="${new URL(String(url)).pathname}">${String(name)}</a> <span class="label">${String(severity)}</span> <span class="label">${String(state)}</span>`;

const dependencyLine = ({ name, version, package_manager, dependency_file_path }: Values): Content =>
  html`${String(name)} ${String(version)}
<div class="soft">${String(package_manager)}, in ${String(dependency_file_path)}</div>`;

const environmentLine = ({ id, name, state, tier, external_url, project }: Values): Content =>
  html`<a href="${environmentPage(String((project as Values).path_with_namespace), Number(id))}">${String(name)}</a> <span class="label">${String(tier)}</span> <span class="label">${String(state)}</span>
${external_url !== null && html`<div class="soft"><a href="${String(external_url)}" rel="nofollow noopener">${String(external_url)}</a></div>`}`;

const deploymentLine = ({ iid, ref, sha, status, user, created_at }: Values): Content =>
  html`#${String(iid)} ${String(ref)} at ${String(sha).slice(0, 8)} <span class="label">${String(status)}</span>
<div class="soft">By ${person(user as { username: string; name: string } | null)}, ${time(String(created_at))}</div>`;

const pipelineLine = ({ iid, ref, sha, status, web_url, created_at }: Values): Content =>
  html`<span class="${`state state-${String(status)}`}">${String(status)}</span> <a href="${new URL(String(web_url)).pathname}">#${String(iid)}</a> ${String(ref)} at ${String(sha).slice(0, 8)}
<div class="soft">${time(String(created_at))}</div>`;

/** The page of a job is that of the system which runs it, or of its commit. */
const jobLine = ({ name, status, web_url, user, created_at }: Values): Content =>
  html`<span class="${`state state-${String(status)}`}">${String(status)}</span> <a href="${String(web_url)}" rel="nofollow noopener">${String(name)}</a>
<div class="soft">By ${person(user as { username: string; name: string } | null)}, ${time(String(created_at))}</div>`;

const dependencies = {
  title: () => 'Dependencies',
  lists: [{ heading: 'What the project depends on', operation: 'listProjectDependencies', line: dependencyLine }],
};

export const codeFactPages = [
  factPage('/:id/-/snippets/:snippet_id', {
    read: ({ described }) => described('getProjectSnippet'),
    title: ({ title }) => String(title),
    discussions: { operation: 'showSnippetDiscussions' },
  }),
  filePage('/:id/-/snippets/:snippet_id/raw', ({ bytes }) => bytes('getRawProjectSnippet')),
  filePage('/:id/-/snippets/:snippet_id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawProjectSnippetFile')),
  factPage('/:id/-/snippets', {
    title: () => 'Snippets',
    lists: [{ heading: 'All snippets', operation: 'listProjectSnippets', line: titleLineOfSnippet }],
  }),
  factPage('/-/snippets/:id', {
    read: ({ described }) => described('getSnippet'),
    title: ({ title }) => String(title),
  }),
  filePage('/-/snippets/:id/raw', ({ bytes }) => bytes('getRawSnippet')),
  filePage('/-/snippets/:id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawSnippetFile')),
  factPage('/:id/-/error_tracking/:error_id/details', {
    read: ({ described }) => described('getError'),
    title: ({ title }) => String(title),
  }),
  factPage('/:id/-/error_tracking', {
    title: () => 'Errors',
    lists: [{ heading: 'Errors', operation: 'listErrors', line: errorLine }],
  }),
  factPage('/:id/-/security/vulnerabilities/:vulnerability_id', {
    read: ({ described }) => described('getProjectVulnerability'),
    title: ({ name }) => String(name),
  }),
  factPage('/:id/-/security/vulnerabilities', {
    title: () => 'Vulnerabilities',
    lists: [{ heading: 'Vulnerabilities', operation: 'listProjectVulnerabilities', line: vulnerabilityLine }],
  }),
  factPage('/:id/-/dependencies', dependencies),
  factPage('/:id/-/environments/:environment_id', {
    read: ({ described }) => described('getEnvironment'),
    title: ({ name }) => String(name),
    lists: [
      {
        heading: 'Deployments',
        operation: 'listDeployments',
        parameters: ({ name }) => ({ environment: name, sort: 'desc' }),
        line: deploymentLine,
      },
    ],
  }),
  factPage('/:id/-/environments', {
    title: () => 'Environments',
    lists: [{ heading: 'Where the project is deployed', operation: 'listEnvironments', line: environmentLine }],
  }),
  factPage('/:id/-/pipelines/:pipeline_id', {
    read: ({ described }) => described('getPipeline'),
    title: ({ iid, ref }) => `Pipeline #${String(iid)} of ${String(ref)}`,
    lists: [{ heading: 'Jobs', operation: 'listPipelineJobs', line: jobLine }],
  }),
  factPage('/:id/-/pipelines', {
    title: () => 'Pipelines',
    lists: [{ heading: 'What external systems report', operation: 'listPipelines', line: pipelineLine }],
  }),
  factPage('/:id/-/feature_flags', {
    title: () => 'Feature flags',
    lists: [{ heading: 'All flags', operation: 'listFeatureFlags' }],
  }),
  factPage('/:id/-/feature_flags_user_lists/:iid', {
    read: ({ described }) => described('getFeatureFlagUserList'),
    title: ({ name }) => String(name),
  }),
  redirect('/:id/-/feature_flags_user_lists/:iid/edit', ({ path }) => path.replace(/\/edit$/, '')),
  // SPDX documents name themselves by such addresses.
  factPage('/:id/-/dependencies/:export_uuid', dependencies),
];

function titleLineOfSnippet({ state: _state, ...snippet }: Values): Content {
  return titleLine({ ...snippet, state: snippet.visibility });
}
