/** Views of pipelines and jobs. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  facts,
  form,
  type Html,
  hidden,
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
import type { TestReportSummary } from '../../ci/artifacts/index.ts';
import type { Bridge, Job } from '../../code/jobs/index.ts';
import { type Pipeline, type PipelineDetail, pipelinePage } from '../../code/pipelines/index.ts';
import { statesView } from '../issuables/views.ts';
import { archiveLinks, reportNames, testsLink } from './artifact_views.ts';
import { newButton, revision, type WithCommits } from './definition.ts';
import { logView } from './log_views.ts';

export function pipelinesView(
  shown: WithCommits & { pipelines: ListPage<Static<typeof Pipeline>>; may_start: boolean },
  seen: Seen,
): View {
  const { id, pipelines, may_start } = shown;
  return {
    title: ['Pipelines', id],
    place: { id, kind: 'project', tab: 'pipelines' },
    main: html`${may_start && html`<p class="actions">${newButton(`${seen.path}/new`, 'Run pipeline')}</p>`}${rows(
      pipelines.items.map(
        (each) =>
          html`${state(each.status)} <a class="title" href="${pipelinePage(id, each.id)}">#${each.iid}</a> ${each.name} ${revision(shown, each)}
<div class="soft">${sourceWords[each.source]}, ${time(each.created_at)}</div>`,
      ),
      'There are no pipelines yet: no configuration has started one, and no external system has reported anything.',
    )}
${pager(pipelines, seen)}`,
  };
}

/** What started a pipeline, for people. */
const sourceWords: Record<Static<typeof Pipeline>['source'], string> = {
  push: 'Started by a push',
  web: 'Started by a person',
  trigger: 'Started by a trigger',
  schedule: 'Started by a schedule',
  api: 'Started by a person',
  external: 'Reported by an external system',
  pipeline: 'Started by another project',
  parent_pipeline: 'Started by another pipeline',
  merge_request_event: 'Started for a merge request',
};

const openStates: readonly string[] = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'manual',
  'scheduled',
];
const endedStates: readonly string[] = ['success', 'failed', 'canceled'];

const seconds = (duration: number | null): Content => duration !== null && counted(Math.round(duration), 'second');

/** The page of a reported status belongs to the system that runs it, or is that of its commit. */
const jobRow = ({ name, status, web_url, user, created_at, duration }: Static<typeof Job>): Html =>
  html`${state(status)} <a class="title" href="${web_url}" rel="nofollow noopener">${name}</a>
<div class="soft">By ${person(user)}, ${time(created_at)}${duration !== null && html`, ${seconds(duration)}`}</div>`;

/** The state of another pipeline, with a link to it. */
const otherPipeline = ({ status, web_url, iid, project_id }: Static<typeof Pipeline>, own_id: number): Html =>
  html`${state(status)} <a href="${web_url}">#${iid}</a>${project_id !== own_id && html` of another project`}`;

function bridgeRow(bridge: Static<typeof Bridge>, seen: Seen): Html {
  const { name, status, user, created_at, failure_reason, downstream_pipeline: other, pipeline } = bridge;
  const button = (form_name: string, label: string) =>
    form(seen, form_name, {
      fields: [hidden('job_id', bridge.id)],
      button: html`${label} <span class="visually-hidden">${name}</span>`,
      ...{ look: 'plain', key: bridge.id },
    });
  return html`${state(status)} <span class="title">${name}</span>${other && html` started ${otherPipeline(other, pipeline.project_id)}`}
<div class="soft">By ${person(user)}, ${time(created_at)}${failure_reason !== undefined && html`, <code>${failure_reason}</code>`}</div>
<div class="actions">${status === 'manual' && button('play_bridge', 'Start')}${endedStates.includes(status) && button('retry_bridge', 'Run again')}${
    openStates.includes(status) && button('cancel_bridge', 'Cancel')
  }</div>`;
}

/** Jobs by stage, in the order of the stages: the newest jobs come first in the list, and later stages have the newer ones. */
const stagesOf = (jobs: readonly (Static<typeof Job> | Static<typeof Bridge>)[]) => [
  ...Map.groupBy(
    jobs.toSorted((one, other) => one.id - other.id),
    ({ stage }) => stage,
  ),
];

export function pipelineView(
  shown: WithCommits & {
    pipeline: Static<typeof PipelineDetail>;
    jobs: ListPage<Static<typeof Job>>;
    bridges: ListPage<Static<typeof Bridge>>;
    tests: Static<typeof TestReportSummary>;
  },
  seen: Seen,
): View {
  const { id, pipeline, jobs, bridges, tests } = shown;
  const all = [...jobs.items, ...bridges.items];
  const upstream = pipeline.upstream_pipeline;
  return {
    title: [`Pipeline #${pipeline.iid}`, 'Pipelines', id],
    place: { id, kind: 'project', tab: 'pipelines' },
    main: html`<div class="actions">${pipeline.source !== 'external' && html`${pipeline.status !== 'success' && endedStates.includes(pipeline.status) && form(seen, 'retry', { button: 'Run failed jobs again' })}${openStates.includes(pipeline.status) && form(seen, 'cancel', { button: 'Cancel pipeline', look: 'plain' })}`}${form(seen, 'remove', { button: 'Delete pipeline', look: 'danger' })}</div>
${pipeline.yaml_errors !== null && html`<p class="refusal">The configuration is wrong: ${pipeline.yaml_errors}</p>`}${facts(
  [
    ['Status', state(pipeline.status)],
    [pipeline.tag ? 'Tag' : 'Branch', revision(shown, pipeline)],
    ['Name', pipeline.name],
    ['Source', sourceWords[pipeline.source]],
    ['Started by pipeline', upstream && otherPipeline(upstream, pipeline.project_id)],
    ['Started by', person(pipeline.user)],
    ['Created', time(pipeline.created_at)],
    ['Finished', time(pipeline.finished_at)],
    ['Duration', seconds(pipeline.duration)],
    ['Coverage', pipeline.coverage !== null && `${pipeline.coverage} %`],
    ['Tests', testsLink(id, pipeline.id, tests)],
  ],
)}
<h2>Jobs</h2>
${stagesOf(all).map(
  ([stage, items]) =>
    html`<h3>${stage}</h3>${rows(
      items.map((each) => ('artifacts' in each ? jobRow(each) : bridgeRow(each, seen))),
      '',
    )}`,
)}${all.length === 0 && html`<p>There are no jobs.</p>`}
${pager(jobs, seen)}`,
  };
}

const runnerName = ({ runner, runner_manager }: Static<typeof Job>) =>
  `#${runner!.id} ${runner!.description}${runner_manager ? ` (${runner_manager.system_id})` : ''}`;

export function jobView(
  shown: WithCommits & { job: Static<typeof Job>; log: Parameters<typeof logView>[0] | undefined },
  seen: Seen,
): View {
  const { id, job, log } = shown;
  const isOurs = job.pipeline.source !== 'external';
  return {
    title: [job.name, 'Jobs', id],
    place: { id, kind: 'project', tab: 'jobs' },
    main: html`${
      isOurs &&
      html`<div class="actions">${
        ['manual', 'scheduled'].includes(job.status) && form(seen, 'play', { button: 'Start job' })
      }${endedStates.includes(job.status) && form(seen, 'retry', { button: 'Run again' })}${
        openStates.includes(job.status) && form(seen, 'cancel', { button: 'Cancel job', look: 'plain' })
      }${
        endedStates.includes(job.status) &&
        job.erased_at === null &&
        form(seen, 'erase', { button: 'Erase log and files', look: 'plain' })
      }</div>`
    }
${facts([
  ['Status', state(job.status)],
  ['Reason', job.failure_reason],
  ['Stage', job.stage],
  ['Pipeline', html`<a href="${pipelinePage(id, job.pipeline.id)}">#${job.pipeline.iid}</a>`],
  [job.tag ? 'Tag' : 'Branch', revision(shown, { ref: job.ref, sha: job.pipeline.sha })],
  ['Started by', person(job.user)],
  ['Created', time(job.created_at)],
  ['Began', time(job.started_at)],
  ['Finished', time(job.finished_at)],
  ['Duration', seconds(job.duration)],
  ['Coverage', job.coverage !== null && `${job.coverage} %`],
  ['Runner', job.runner && runnerName(job)],
  ['Tags', job.tag_list.length > 0 && job.tag_list.join(', ')],
  ['May fail', job.allow_failure && 'Yes'],
  ['Files', archiveLinks(id, job)],
  ['Reports', reportNames(job)],
  ['Erased', time(job.erased_at)],
])}
${log && log.text !== '' && logView(log)}`,
  };
}

const jobStates = [
  ['all', 'All'],
  ['running', 'Running'],
  ['failed', 'Failed'],
  ['success', 'Passed'],
] as const;

export function jobsView(
  shown: WithCommits & { status: string; jobs: ListPage<Static<typeof Job>> },
  seen: Seen,
): View {
  const { id, status, jobs } = shown;
  return {
    title: ['Jobs', id],
    place: { id, kind: 'project', tab: 'jobs' },
    main: html`${statesView(seen, status, jobStates, 'status')}
${rows(
  jobs.items.map(
    (job) =>
      html`${jobRow(job)} <span class="soft">in <a href="${pipelinePage(id, job.pipeline.id)}">#${job.pipeline.iid}</a>, ${revision(shown, { ref: job.ref, sha: job.pipeline.sha })}</span>`,
  ),
  'There is no such job.',
)}
${pager(jobs, seen)}`,
  };
}
