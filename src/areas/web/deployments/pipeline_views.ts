/** Views of pipelines and jobs. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  facts,
  form,
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
import { statesView } from '../issuables/views.ts';
import { revision, type WithCommits } from './definition.ts';

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
    main: html`${form(seen, 'remove', { button: 'Delete pipeline', look: 'danger' })}
${facts([
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
  'No external system has reported such a job.',
)}
${pager(jobs, seen)}`,
  };
}
