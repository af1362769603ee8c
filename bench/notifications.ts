/** Notifications: how fast the mail about a comment leaves, and what watchers cost the comment itself. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { startEmbedded } from '../src/db/embedded.ts';
import { type Instance, startInstance } from './instance.ts';
import { inTurn, measuredFrom, timeOf } from './measure.ts';
import { plainRow, type Row, timesRow } from './table.ts';

const watchers = 1_000;
const turns = 10;
const turns_of_mail = 3;

/** A mail server that takes everything and tells when it has taken so many messages. */
async function mailSink() {
  let taken = 0;
  let waiting: { for: number; resolve(): void } | undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, _session, done) => {
      stream.on('end', () => {
        taken += 1;
        if (waiting && taken >= waiting.for) waiting.resolve();
        done();
      });
      stream.resume();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    /** Resolves when it has taken so many more messages than now. */
    takes: (more: number) => new Promise<void>((resolve) => (waiting = { for: taken + more, resolve })),
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

async function addWatchers({ data }: Instance, project_id: number): Promise<void> {
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    `with watchers as (
       insert into users (username, name, email, confirmed_at)
       select 'watcher-' || n, 'Watcher ' || n, 'watcher-' || n || '@example.com', now() from generate_series(1, $2) n returning id)
     insert into notification_settings (user_id, project_id, level, events) select id, $1, 'watch', '{}' from watchers`,
    [project_id, watchers],
  );
  await client.query('analyze');
  await client.end();
  await stop();
}

async function issueIn({ api }: Instance, name: string): Promise<{ project: number; notes: string }> {
  const { body: project } = await api.post('/projects', { name, visibility: 'public' });
  const { body: issue } = await api.post(`/projects/${project.id}/issues`, { title: 'An issue' });
  return { project: project.id, notes: `/projects/${project.id}/issues/${issue.iid}/notes` };
}

/** @param folder for the data of the instance */
export async function measureNotifications(folder: string): Promise<Row[]> {
  const sink = await mailSink();
  const instance = await startInstance(path.join(folder, 'notifications'), { COPPICE_SMTP_URL: sink.url });
  try {
    const [watched, quiet] = [await issueIn(instance, 'watched'), await issueIn(instance, 'quiet')];
    await addWatchers(instance, watched.project);
    const comment = async (notes: string) => {
      const { status } = await instance.api.post(notes, { body: 'News' });
      if (status !== 201) throw new Error(`the comment answers ${status}`);
    };
    const tell = async () => {
      const sent = sink.takes(watchers);
      await comment(watched.notes);
      await sent;
    };
    const before_ms = await instance.cpu_ms();
    const [mailing] = await inTurn(turns_of_mail, tell);
    const cpu_ms = ((await instance.cpu_ms()) - before_ms) / (turns_of_mail * watchers);
    const taken: { watched: number[]; quiet: number[] } = { watched: [], quiet: [] };
    for (let turn = 0; turn < turns; turn++) {
      const sent = sink.takes(watchers);
      taken.watched.push(await timeOf(() => comment(watched.notes)));
      // The mail is out of the way before the other comment is measured.
      await sent;
      taken.quiet.push(await timeOf(() => comment(quiet.notes)));
    }
    const [product, limit] = [measuredFrom(taken.watched), measuredFrom(taken.quiet)];
    const rate = Math.round((watchers / mailing!.p50_ms) * 1000);
    return [
      plainRow('mail to 1,000 watchers of a comment', `${rate}/s`, '≥ 300/s', { ...mailing!, cpu_ms }),
      timesRow('comment with 1,000 watchers, beside one without', product, limit, '≤ 1.3×'),
    ];
  } finally {
    await instance.stop();
    await sink.close();
  }
}
