/** The doors of the server with their rules. The table is committed as docs/doors.txt and reviewed as a diff. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { buildApp } from '../../src/app.ts';
import { jobs } from '../../src/areas/jobs.ts';
import { pages } from '../../src/areas/pages.ts';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/db/index.ts';
import { type Floor, peerFloor } from '../../src/foundation/pace.ts';
import { type Cost, costs } from '../../src/http/costs.ts';
import type { Queued } from '../../src/http/overload.ts';
import { apiPace, type Paced, replyPace } from '../../src/http/pace.ts';

const speed = ({ least_bytes, window_ms }: Floor) => `${least_bytes} bytes in ${window_ms / 1000} s`;

function rulesOf(cost: Cost): string {
  const { pace = apiPace, patience_ms = 10_000, urgent }: Paced & Queued = costs[cost];
  const waits = urgent ? 'never waits' : `waits ${patience_ms / 1000} s at most`;
  return `${waits}; a body: ${speed(pace)}, ${pace.total_ms! / 60_000} min in all; a reply: ${speed(replyPace)}`;
}

const section = (title: string, lines: readonly string[]) =>
  [title, ...lines.map((line) => `  ${line}`), ''].join('\n');

/** Every route by its cost, pages that are costly, and jobs with a peer. */
export async function doorTable(db: Database): Promise<string> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-doors-'));
  const config = readConfig({ COPPICE_DATA: data });
  const app = await buildApp({ config, db, log: pino({ level: 'silent' }) });
  try {
    await app.ready();
    const byCost = Map.groupBy(app.routeCosts, ([, cost]) => cost);
    const routes = (Object.keys(costs) as Cost[]).map((cost) => {
      const all = (byCost.get(cost) ?? []).map(([route]) => route).filter((route) => !route.startsWith('HEAD '));
      // Most are, and they change often.
      const shown = cost === 'usual' ? ['every other route'] : all.toSorted();
      return section(`${cost}: ${rulesOf(cost)}`, shown);
    });
    const costly = pages.filter((page) => 'is_costly' in page && page.is_costly).map((page) => page.path);
    const peers = jobs.flatMap(({ name, peer }) => (peer ? [`${name}: ${peer.per_person} of one person`] : []));
    return [
      ...routes,
      section(
        'costly pages: of strangers, a quarter of a process, and of one of their addresses a quarter of that',
        costly,
      ),
      section(`jobs with a peer: ${speed(peerFloor)}; end with what they are for`, peers),
    ].join('\n');
  } finally {
    await app.close();
    await rm(data, { recursive: true, force: true });
  }
}
