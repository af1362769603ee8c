/** Feature flags as applications ask for them: 200 flags that have not changed, beside an issue, and those that have just been changed. */
import path from 'node:path';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { ms, plainRow, type Row, ratesRow } from './table.ts';

const turns = Number(process.env.BENCH_TURNS ?? 60);
const flags = 200;

/** @returns the project, and the address and headers with which its applications ask */
async function addFlags({ api, url }: Instance) {
  const { id } = (await api.post('/projects', { name: 'flags' })).body;
  const of = `/projects/${id}/feature_flags`;
  const parameters = { rollout: '50', groupId: 'default', stickiness: 'default' };
  const strategies = [{ name: 'flexibleRollout', parameters }];
  for (let number = 0; number < flags; number++) {
    const { status, body } = await api.post(of, { name: `flag_${number}`, version: 'new_version_flag', strategies });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
  const { body } = await api.get(`/projects/${id}/feature_flags_client`);
  const headers = { 'unleash-instanceid': body.instance_id as string, 'unleash-appname': 'production' };
  return { id, of, headers, address: `${url}/api/v4/feature_flags/unleash/${id}/client/features` };
}

/** @param folder for the data of an instance */
export async function measureFeatureFlags(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'feature_flags'));
  try {
    const { api } = instance;
    const { id, of, headers, address } = await addFlags(instance);
    const { pathname } = new URL(address);
    const poll = () => fetch(address, { headers });
    const etag = (await poll()).headers.get('etag')!;
    const unchanged = await load(instance, [pathname], {
      headers: { ...headers, 'if-none-match': etag },
      status: '304',
    });
    await api.post(`/projects/${id}/issues`, { title: 'Beside the flags' });
    const issue = await load(instance, [`/api/v4/projects/${id}/issues/1`], { headers: { 'private-token': token } });
    const change = (turn: number) => api.put(`${of}/flag_7`, { active: turn % 2 === 1 });
    const ask = async (turn: number) => {
      const { features } = (await (await poll()).json()) as { features: { name: string; enabled: boolean }[] };
      if (features.find(({ name }) => name === 'flag_7')?.enabled !== (turn % 2 === 1))
        throw new Error('The poll after a change does not show it.');
    };
    const [, changed] = await inTurn(turns, change, ask);
    return [
      ratesRow('feature flags: poll, unchanged, beside GET an issue', unchanged, issue, '≥ 80 %'),
      plainRow('feature flags: poll after a change', ms(changed!.p90_ms), 'P90 ≤ 10 ms', changed),
    ];
  } finally {
    await instance.stop();
  }
}
