/** Views of environments, pipelines and feature flags. */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  facts,
  type Html,
  html,
  pager,
  person,
  rows,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Job } from '../../code/jobs/index.ts';
import { type Pipeline, type PipelineDetail, pipelinePage } from '../../code/pipelines/index.ts';
import {
  type Deployment,
  type Environment,
  type EnvironmentInList,
  environmentPage,
} from '../../deployments/environments/index.ts';
import type { FeatureFlag } from '../../deployments/feature_flags/index.ts';

interface InProject {
  id: string;
}

interface WithCommits extends InProject {
  /** Whether the caller may open the commits. */
  reads_code: boolean;
}

/** The built or deployed revision: `main at 1a2b3c4d`. */
function revision({ id, reads_code }: WithCommits, { ref, sha }: { ref: string; sha: string }): Html {
  const short = html`<code>${sha.slice(0, 8)}</code>`;
  return html`${ref} at ${reads_code ? html`<a href="${commitKind.page(id, sha)}" rel="nofollow">${short}</a>` : short}`;
}

const outside = (address: string | null): Content =>
  address !== null && html`<a href="${address}" rel="nofollow noopener">${address}</a>`;

export function environmentsView(
  { id, environments }: InProject & { environments: ListPage<Static<typeof EnvironmentInList>> },
  seen: Seen,
): View {
  return {
    title: ['Environments', id],
    place: { id, kind: 'project', tab: 'environments' },
    main: html`${rows(
      environments.items.map(
        (each) =>
          html`<a class="title" href="${environmentPage(id, each.id)}">${each.name}</a> ${chip(each.tier)} ${state(each.state)}
<div class="soft">${outside(each.external_url)}</div>`,
      ),
      'There are no environments yet. A first deployment makes one.',
    )}
${pager(environments, seen)}`,
  };
}

export function environmentView(
  shown: WithCommits & { environment: Static<typeof Environment>; deployments: ListPage<Static<typeof Deployment>> },
  seen: Seen,
): View {
  const { id, environment, deployments } = shown;
  return {
    title: [environment.name, 'Environments', id],
    place: { id, kind: 'project', tab: 'environments' },
    main: html`${facts([
      ['State', state(environment.state)],
      ['Tier', environment.tier],
      ['Description', environment.description],
      ['Address', outside(environment.external_url)],
      ['Stops on', time(environment.auto_stop_at)],
      ['Created', time(environment.created_at)],
    ])}
<h2>Deployments</h2>
${rows(
  deployments.items.map(
    (each) =>
      html`${state(each.status)} #${each.iid} ${revision(shown, each)}
<div class="soft">By ${person(each.user)}, ${time(each.created_at)}</div>`,
  ),
  'Nothing was deployed here yet.',
)}
${pager(deployments, seen)}`,
  };
}

export function pipelinesView(shown: WithCommits & { pipelines: ListPage<Static<typeof Pipeline>> }, seen: Seen): View {
  const { id, pipelines } = shown;
  return {
    title: ['Pipelines', id],
    place: { id, kind: 'project', tab: 'pipelines' },
    main: html`${rows(
      pipelines.items.map(
        (each) =>
          html`${state(each.status)} <a class="title" href="${pipelinePage(id, each.id)}">#${each.iid}</a> ${revision(shown, each)}
<div class="soft">${time(each.created_at)}</div>`,
      ),
      'No external system has reported anything yet.',
    )}
${pager(pipelines, seen)}`,
  };
}

const seconds = (duration: number | null): Content => duration !== null && counted(Math.round(duration), 'second');

/** The page of a job belongs to the system that runs it, or is that of its commit. */
const jobRow = ({ name, status, web_url, user, created_at, duration }: Static<typeof Job>): Html =>
  html`${state(status)} <a class="title" href="${web_url}" rel="nofollow noopener">${name}</a>
<div class="soft">By ${person(user)}, ${time(created_at)}${duration !== null && html`, ${seconds(duration)}`}</div>`;

export function pipelineView(
  shown: WithCommits & { pipeline: Static<typeof PipelineDetail>; jobs: ListPage<Static<typeof Job>> },
  seen: Seen,
): View {
  const { id, pipeline, jobs } = shown;
  return {
    title: [`Pipeline #${pipeline.iid}`, 'Pipelines', id],
    place: { id, kind: 'project', tab: 'pipelines' },
    main: html`${facts([
      ['Status', state(pipeline.status)],
      [pipeline.tag ? 'Tag' : 'Branch', revision(shown, pipeline)],
      ['Started by', person(pipeline.user)],
      ['Created', time(pipeline.created_at)],
      ['Finished', time(pipeline.finished_at)],
      ['Duration', seconds(pipeline.duration)],
      ['Coverage', pipeline.coverage !== null && `${pipeline.coverage} %`],
    ])}
<h2>Jobs</h2>
${rows(jobs.items.map(jobRow), 'There are no jobs.')}
${pager(jobs, seen)}`,
  };
}

type Flag = Static<typeof FeatureFlag>;

/** `gradualRolloutUserId (percentage: 30) in production, staging`. */
function strategyLine({ name, parameters, scopes, user_list }: Flag['strategies'][number]): string {
  const told = Object.entries(parameters).map(([parameter, value]) => `${parameter}: ${value}`);
  const given = user_list ? [`user list: ${user_list.name}`, ...told] : told;
  const environments = scopes.map(({ environment_scope }) => environment_scope).join(', ');
  return `${name}${given.length > 0 ? ` (${given.join(', ')})` : ''} in ${environments}`;
}

export function flagsView({ id, flags }: InProject & { flags: ListPage<Flag> }, seen: Seen): View {
  return {
    title: ['Feature flags', id],
    place: { id, kind: 'project', tab: 'feature_flags' },
    main: html`${rows(
      flags.items.map(
        ({ name, active, description, strategies }) =>
          html`<span class="title">${name}</span> ${chip(active ? 'active' : 'inactive')}
<div class="soft">${description}</div>
${strategies.map((strategy) => html`<div>${strategyLine(strategy)}</div>`)}`,
      ),
      'There are no feature flags yet.',
    )}
${pager(flags, seen)}`,
  };
}
