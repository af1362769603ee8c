/** Error tracking: how long others wait while someone sends 10,000 requests a second with wrong keys. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { atRate, Times } from '../test/campaign/times.ts';
import { type Instance, startInstance } from './instance.ts';
import { ms, plainRow, type Row } from './table.ts';

const seconds = Number(process.env.BENCH_SECONDS ?? 8);
const rounds = 3;
const perSecond = 10_000;
const attackers = 100;
/** After this time the attack goes at its pace; before, the attacker's own thread starts. */
const lead_ms = 2000;
/** Between two requests of the others. */
const interval_ms = 20;

/** The times of others who use the API at a steady rate. */
async function waitOf({ api }: Instance, project: number): Promise<Times> {
  const times = new Times();
  await atRate(interval_ms, performance.now() + seconds * 1000, async (due) => {
    const { status } = await api.get(`/projects/${project}/issues`);
    times.add({ waited_ms: performance.now() - due, ok: status === 200 });
  });
  return times;
}

/** Sends from a thread of its own. @returns how many requests a second there really were */
async function attack(url: string, project: number): Promise<number> {
  const at = `/api/v4/error_tracking/collector/api/${project}/envelope/?sentry_key=glet_${'0'.repeat(32)}`;
  const body = `{}\n{"type":"event"}\n${JSON.stringify({ message: 'x'.repeat(1000) })}\n`;
  const requests = [{ method: 'POST' as const, path: at, body }];
  const { requests: sent, statusCodeStats = {} } = await autocannon({
    ...{
      url,
      connections: attackers,
      overallRate: perSecond,
      duration: seconds + lead_ms / 1000,
      workers: 1,
      requests,
    },
  });
  if (Object.keys(statusCodeStats).some((status) => status !== '404' && status !== '503'))
    throw new Error(JSON.stringify(statusCodeStats));
  return sent.average;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** @param folder for the data of the instance */
export async function measureErrorAttack(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'error_attack'));
  try {
    const { body: project } = await instance.api.post('/projects', { name: 'shop' });
    await instance.api.put(`/projects/${project.id}/error_tracking/settings`, { active: true, integrated: true });
    await waitOf(instance, project.id);
    const [without, during]: Times[][] = [[], []];
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) {
      without!.push(await waitOf(instance, project.id));
      const attacked = attack(instance.url, project.id);
      await sleep(lead_ms);
      during!.push(await waitOf(instance, project.id));
      rates.push(await attacked);
    }
    const p99 = (all: readonly Times[]) => median(all.map((times) => times.at(0.99)));
    // A machine that is busy with other things refuses some anyway.
    const refused = (all: readonly Times[]) => all.reduce((sum, { errors }) => sum + errors, 0);
    const operation = `GET issues, P99, beside ${Math.round(median(rates)).toLocaleString('en')} wrong keys a second`;
    const row = plainRow(`${operation} (${refused(during!)} : ${refused(without!)} refused)`, ms(p99(during!)), '≤ 2×');
    return [{ ...row, limit: ms(p99(without!)), ratio: `${(p99(during!) / p99(without!)).toFixed(2)}×` }];
  } finally {
    await instance.stop();
  }
}
