/** The door of runners: asking for jobs, waiting for them, logs and the end of jobs. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startInstance } from './instance.ts';
import { measuredFrom, timeOf } from './measure.ts';
import { allTimes, doorOf, type Held, pacedTimes, percentile } from './runner_door.ts';
import { plainRow, type Row } from './table.ts';

/** So many jobs are handed out, by as many runners at once as the next number says. */
const [handed_out, at_once] = [400, 64];
/** As 200 runners ask that come every three seconds. */
const [asked, asked_every_ms] = [400, 15];
const settled_ms = 10_000;
/** As 100 jobs log that say something all the time. */
const logged_every_ms = 2.5;
const pieces_each = 10;

const parallel = (name: string, total: number) =>
  Array.from(
    { length: total / 200 },
    (_, index) => `${name} ${index}: {script: make, parallel: 200, tags: [${name}]}`,
  ).join('\n');

export async function measureRunners(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'runners'));
  try {
    const { api } = instance;
    await api.put('/application/settings', { ci_long_poll_seconds: 0 });
    const { body: project } = await api.post('/projects', { name: 'built', initialize_with_readme: true });
    const { body: runner } = await api.post('/user/runners', {
      ...{ runner_type: 'instance_type', run_untagged: true, tag_list: ['out', 'large'] },
    });
    const { request, append, end } = doorOf(instance, runner.token);
    const start = async (name: string, content: string) => {
      await api.post(`/projects/${project.id}/repository/commits`, {
        ...{ branch: name, start_branch: 'main', commit_message: '[skip ci]' },
        actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content }],
      });
      const { status, body } = await api.post(`/projects/${project.id}/pipeline`, { ref: name });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body.id as number;
    };
    await allTimes(100, 4, () => request());
    // What follows the first project is done by then.
    await sleep(settled_ms);
    const idle_ms = await pacedTimes(asked, asked_every_ms, () => request());

    await start('out', parallel('out', handed_out));
    const held: Held[] = [];
    const began = performance.now();
    await allTimes(handed_out, at_once, async () => {
      const job = await request();
      if (job) held.push(job);
    });
    const per_s = handed_out / ((performance.now() - began) / 1000);
    if (new Set(held.map(({ id }) => id)).size !== handed_out) throw new Error('not each job was handed out once');

    const logged = held.slice(0, 100);
    const append_ms = await pacedTimes(logged.length * pieces_each, logged_every_ms, (index) =>
      append(logged[index % logged.length]!, Math.floor(index / logged.length)),
    );

    await start('large', `${parallel('large', 2_000)}\nlast: {script: make, needs: [], when: manual}`);
    const large: Held[] = [];
    while (large.length < 20) large.push((await request())!);
    const end_ms: number[] = [];
    for (const job of large) end_ms.push(await timeOf(() => end(job)));
    return [
      plainRow(
        'jobs/request, 200 runners, nothing to do: P99',
        `${percentile(idle_ms, 0.99).toFixed(1)} ms`,
        '≤ 10 ms',
        measuredFrom(idle_ms),
      ),
      plainRow(`hand-out to ${at_once} runners at once`, `${per_s.toFixed(0)} jobs/s`, '≥ 150 jobs/s'),
      plainRow(
        '4 KiB of log, 400 a second for 100 jobs: P99',
        `${percentile(append_ms, 0.99).toFixed(1)} ms`,
        '≤ 25 ms',
        measuredFrom(append_ms),
      ),
      plainRow('end of a job among 2,000', `${percentile(end_ms, 0.5).toFixed(1)} ms`, '≤ 30 ms', measuredFrom(end_ms)),
    ];
  } finally {
    await instance.stop();
  }
}
