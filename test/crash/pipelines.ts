/** Pipelines that start and are executed until the server is killed, and what must be left of them. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { endOverdueJobs } from '../../src/areas/ci/jobs/index.ts';
import { storeEndedLogs } from '../../src/areas/ci/logs/index.ts';
import { standingPipelines } from '../../src/areas/ci/running/standing_queries.ts';
import type { Database } from '../../src/db/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import { performJob } from '../support/jobs.ts';
import { type Random, randomFrom } from '../support/random.ts';
import { type Held, type Runner, runnerAt } from '../support/runners.ts';
import { asked, type Fate, type Memory, type Project, type Round } from './writers.ts';

const configuration = `
workflow: {rules: [{if: $CI_COMMIT_BRANCH}]}
stages: [build, test, deploy]
build: {stage: build, script: make, retry: 1}
lint: {stage: build, script: make lint, allow_failure: true}
test: {stage: test, script: make test, needs: [build]}
clean: {stage: test, script: make clean, when: always}
ship: {stage: deploy, script: make ship, resource_group: production, environment: production}
publish: {stage: deploy, script: make publish, release: {tag_name: v$CI_PIPELINE_ID, description: Published}}
`;

/** A job that a runner was given, and what the server acknowledged of it. */
export interface ExecutedJob {
  id: number;
  token: string;
  log: string;
  /** How the runner said that it ended. */
  end?: { state: 'success' | 'failed'; fate: Fate };
}

/** Who executes the pipelines of a project. */
export interface Workshop {
  project: Project;
  runners: Runner[];
  /** The jobs that runners come back to. */
  back: Held[];
}

/** How many ask for jobs. */
const together = 3;

/** A project with a configuration, and its runners. */
export async function openWorkshop(api: Client, url: string): Promise<Workshop> {
  const project = await api.post('/projects', { name: 'Built', path: 'built', initialize_with_readme: true });
  assert.equal(project.status, 201);
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: configuration }];
  const commit = { branch: 'main', commit_message: 'Build', actions };
  assert.equal((await api.post(`/projects/${project.body.id}/repository/commits`, commit)).status, 201);
  const { runners_token } = (await api.get(`/projects/${project.body.id}`)).body;
  const runners = await Promise.all(Array.from({ length: together }, () => runnerAt(url, runners_token)));
  return { project: project.body, runners, back: [] };
}

/** Starts pipelines, one after the other. */
async function startPipelines(api: Client, project: Project, round: Round, { pipelines }: Memory): Promise<void> {
  while (!round.isOver) {
    const { id } = await asked(round, 'a pipeline', api.post(`/projects/${project.id}/pipeline`, { ref: 'main' }));
    if (id !== undefined) pipelines.add(id);
    await sleep(20);
  }
}

const long_ago = '2026-01-01T00:00:00Z';

/** What a runner is answered; undefined if the server was killed meanwhile. */
async function answerOf<T extends { status: number; body: unknown }>(
  asking: Promise<T>,
  round?: Round,
): Promise<T | undefined> {
  const reply = await asking.catch(() => undefined);
  if (round && !round.isOver && (reply?.status ?? 500) >= 500)
    round.failures.push(`a runner: ${reply?.status} ${JSON.stringify(reply?.body)}`);
  return reply;
}

/** A machine may ask 120 times in a minute; these ask more often, as several machines. */
const asksOfMachine = 100;
let asks = 0;

async function take(runner: Runner, round?: Round): Promise<Held | undefined> {
  const system_id = `s_${Math.floor(asks++ / asksOfMachine)}`;
  const reply = await answerOf(runner.request({ system_id }), round);
  return reply?.status === 201 ? runner.held(reply.body) : undefined;
}

/** Sends pieces of a log; what is not acknowledged is sent again where the server says that its log ends. */
async function log(held: Held, job: ExecutedJob, lines: number, round?: Round): Promise<boolean> {
  for (let line = 0; line < lines; line++) {
    const text = `line ${job.log.length} of ${job.id}\n`;
    const reply = await answerOf(held.append(text, job.log.length), round);
    if (reply?.status === 416) {
      const size = Number(reply.headers.get('range')!.slice('0-'.length));
      assert.ok(
        size >= job.log.length,
        `the log of ${job.id} has ${size} bytes, and ${job.log.length} were acknowledged`,
      );
      assert.equal(size, job.log.length + text.length, 'what was sent before the crash is there as a whole');
    } else if (reply?.status !== 202) return false;
    job.log += text;
  }
  return true;
}

/** Says how a job ended; twice, as a runner does that got no answer. */
async function end(held: Held, job: ExecutedJob, random: Random, round?: Round): Promise<void> {
  job.end ??= { state: random.happens(80) ? 'success' : 'failed', fate: 'unknown' };
  const { state } = job.end;
  const times = random.happens(30) ? 2 : 1;
  const replies = await Promise.all(Array.from({ length: times }, () => answerOf(held.end(state), round)));
  if (replies.some((reply) => reply?.status === 200)) job.end.fate = 'done';
  else if (replies.some((reply) => reply?.status === 403)) job.end.fate = 'refused';
}

/** The jobs of a runner, until the server is killed. Some it forgets, and some it comes back to. */
async function execute({ runners, back }: Workshop, index: number, round: Round, { jobs }: Memory): Promise<void> {
  const random = randomFrom(round.number * together + index);
  while (!round.isOver) {
    const returned = random.happens(20) ? back.shift() : undefined;
    const held = returned ?? (await take(runners[index]!, round));
    if (!held) {
      await sleep(20);
      continue;
    }
    const known = jobs.get(held.token);
    assert.ok(returned || !known, `job ${held.id} was given twice with one token`);
    const job: ExecutedJob = known ?? { id: held.id, token: held.token, log: '' };
    jobs.set(held.token, job);
    if (random.happens(5)) continue;
    if (!(await log(held, job, random.below(4), round)) || random.happens(10)) back.push(held);
    else await end(held, job, random, round);
    if (job.end?.fate === 'done') round.onSuccess();
  }
}

/** Starts pipelines and executes them. */
export const runPipelines = (api: Client, workshop: Workshop, round: Round, memory: Memory): Promise<void>[] => [
  startPipelines(api, workshop.project, round, memory),
  ...workshop.runners.map((_, index) => execute(workshop, index, round, memory)),
];

const isOpen = sql<boolean>`status not in ('success', 'failed', 'canceled', 'skipped', 'manual')`;

/** Lets all pipelines end: runners come back or are found to be silent, and one of them executes the rest. */
async function drain(services: JobServices, { runners, back }: Workshop, memory: Memory, settle: () => Promise<void>) {
  const { db } = services;
  const open = () => db.selectFrom('pipelines').select('id').where(isOpen).execute();
  const random = randomFrom(memory.jobs.size);
  for (const held of back.splice(0)) {
    const job = memory.jobs.get(held.token)!;
    if (await log(held, job, 1)) await end(held, job, random);
  }
  for (let turn = 0; (await open()).length > 0; turn++) {
    assert.ok(turn < 50, `pipelines do not end: ${(await open()).map(({ id }) => id)}`);
    await settle();
    const times = { seen_at: long_ago, handed_out_at: long_ago };
    await db.updateTable('job_runs').set(times).where('ended_at', 'is', null).execute();
    await performJob(services, endOverdueJobs, {});
    for (let held = await take(runners[0]!); held; held = await take(runners[0]!)) {
      const job: ExecutedJob = { id: held.id, token: held.token, log: '', end: { state: 'success', fate: 'unknown' } };
      memory.jobs.set(held.token, job);
      assert.ok(await log(held, job, 1));
      assert.equal((await held.end('success')).status, 200);
      job.end!.fate = 'done';
    }
  }
}

/** What follows from the end of a job. */
const missingEffects = async (db: Database) => {
  const { rows } = await sql`
    select job.id, job.name, job.status, deployments.status as deployment, releases.tag as release
      from commit_statuses job join pipelines on pipelines.id = job.pipeline_id
           left join deployments on deployments.job_id = job.id left join releases on releases.project_id = job.project_id and releases.tag = 'v' || pipelines.id
     where job.kind = 'job' and (job.name = 'ship' and deployments.status is distinct from job.status
        or job.name = 'publish' and job.status = 'success' and releases.id is null)`.execute(db);
  return rows;
};

/** Every pipeline ends, with all that follows from the ends of its jobs, and nothing is lost that a runner was told is stored. */
export async function inspectPipelines(
  api: Client,
  services: JobServices,
  workshop: Workshop,
  memory: Memory,
  settle: () => Promise<void>,
): Promise<void> {
  const { db } = services;
  await drain(services, workshop, memory, settle);
  await settle();
  await db.updateTable('job_runs').set({ ended_at: long_ago }).where('ended_at', 'is not', null).execute();
  await performJob(services, storeEndedLogs, {});
  const ended = new Map<number, string>();
  for (const { id, token, log: acknowledged, end: said } of memory.jobs.values()) {
    const { status } = await db
      .selectFrom('commit_statuses')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (said?.fate === 'done') {
      assert.equal(status, said.state, `job ${id}`);
      assert.equal(ended.get(id) ?? token, token, `job ${id} was ended by two runners`);
      ended.set(id, token);
    }
    const { body } = await api.get(`/projects/${workshop.project.id}/jobs/${id}/trace`);
    assert.ok((body ?? '').startsWith(acknowledged), `the log of job ${id} has lost something`);
  }
  const there = await db.selectFrom('pipelines').select('id').execute();
  assert.deepEqual(
    [...memory.pipelines].filter((id) => !there.some((row) => row.id === id)),
    [],
  );
  await db.updateTable('pipelines').set({ updated_at: long_ago }).execute();
  assert.deepEqual(await standingPipelines(db, 10), []);
  assert.deepEqual(await missingEffects(db), []);
  memory.jobs.clear();
}
