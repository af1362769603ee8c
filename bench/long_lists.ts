/** Long lists of projects, groups, users and members: a forge of 200,000 projects and 21,000 users beside one of 10,000 and 1,000. */
import path from 'node:path';
import { type Client, clientOf } from '../test/support/client.ts';
import { type Forest, seedForest, tokens } from './forest_seed.ts';
import { type Instance, startInstance } from './instance.ts';
import { inTurn, type Measured } from './measure.ts';
import { besideRow, type Row } from './table.ts';

const turns = Number(process.env.BENCH_TURNS ?? 60);
/** Offset pagination of projects ends at the first 50,000. */
const lastPage = 2500;
const [usualSize, unusualSize] = [20, 21];

interface Forge {
  instance: Instance;
  forest: Forest;
}

interface List {
  name: string;
  /** Nobody has no token. The gardener is a member of 5,000 projects, the walker of a few, and the administrator of three in four. */
  as: keyof typeof tokens | 'nobody';
  address: string | ((forest: Forest) => string);
  parameters?: Record<string, unknown>;
}

const projectLists: List[] = [
  { name: 'projects by id', as: 'gardener', address: '/projects', parameters: { order_by: 'id' } },
  { name: 'projects by created_at', as: 'gardener', address: '/projects' },
  { name: 'projects by name', as: 'gardener', address: '/projects', parameters: { order_by: 'name', sort: 'asc' } },
  {
    name: 'projects by last_activity_at',
    as: 'gardener',
    address: '/projects',
    parameters: { order_by: 'last_activity_at' },
  },
  { name: 'projects of a topic', as: 'gardener', address: '/projects', parameters: { topic: 'topic-7' } },
  { name: 'projects, common word', as: 'gardener', address: '/projects', parameters: { search: 'service' } },
  {
    name: 'projects, common word, by similarity',
    as: 'gardener',
    address: '/projects',
    parameters: { search: 'service', order_by: 'similarity' },
  },
  { name: 'projects, rare word', as: 'gardener', address: '/projects', parameters: { search: '777' } },
  { name: 'own of 5,000 projects', as: 'gardener', address: '/projects', parameters: { membership: true } },
  {
    name: 'own of 5,000 projects by last_activity_at',
    as: 'gardener',
    address: '/projects',
    parameters: { membership: true, order_by: 'last_activity_at' },
  },
  {
    name: 'own of 5,000 projects, common word',
    as: 'gardener',
    address: '/projects',
    parameters: { membership: true, search: 'service' },
  },
  { name: 'own of few projects', as: 'walker', address: '/projects', parameters: { membership: true } },
  { name: 'all projects', as: 'admin', address: '/projects' },
  { name: 'all projects by name', as: 'admin', address: '/projects', parameters: { order_by: 'name', sort: 'asc' } },
  { name: 'own of most projects', as: 'admin', address: '/projects', parameters: { membership: true } },
  { name: 'public projects', as: 'nobody', address: '/projects' },
  { name: 'public projects, common word', as: 'nobody', address: '/projects', parameters: { search: 'service' } },
];

const groupLists: List[] = [
  { name: 'own groups', as: 'gardener', address: '/groups' },
  { name: 'visible groups', as: 'gardener', address: '/groups', parameters: { all_available: true } },
  { name: 'all groups', as: 'admin', address: '/groups' },
  { name: 'public groups', as: 'nobody', address: '/groups' },
  {
    name: 'subgroups',
    as: 'gardener',
    address: ({ forest }) => `/groups/${forest}/subgroups`,
    parameters: { all_available: true },
  },
  {
    name: 'descendant groups',
    as: 'gardener',
    address: ({ forest }) => `/groups/${forest}/descendant_groups`,
    parameters: { all_available: true },
  },
  { name: 'projects of a group', as: 'gardener', address: ({ orchard }) => `/groups/${orchard}/projects` },
  {
    name: 'projects of a group by name',
    as: 'gardener',
    address: ({ orchard }) => `/groups/${orchard}/projects`,
    parameters: { order_by: 'name', sort: 'asc' },
  },
  {
    name: 'projects of a tree of groups',
    as: 'gardener',
    address: ({ forest }) => `/groups/${forest}/projects`,
    parameters: { include_subgroups: true },
  },
  {
    name: 'all projects of a tree of groups',
    as: 'admin',
    address: ({ forest }) => `/groups/${forest}/projects`,
    parameters: { include_subgroups: true },
  },
];

const peopleLists: List[] = [
  { name: 'users', as: 'gardener', address: '/users' },
  { name: 'users in full', as: 'admin', address: '/users' },
  { name: 'users, common word', as: 'gardener', address: '/users', parameters: { search: 'walker' } },
  { name: 'all members of a project', as: 'gardener', address: ({ crowded }) => `/projects/${crowded}/members/all` },
  { name: 'members of a group', as: 'gardener', address: ({ crowd }) => `/groups/${crowd}/members` },
  { name: 'all members of a group', as: 'gardener', address: ({ crowd }) => `/groups/${crowd}/members/all` },
  { name: 'own namespaces', as: 'gardener', address: '/namespaces' },
  { name: 'all namespaces', as: 'admin', address: '/namespaces' },
];

type Ask = (page: number) => Promise<unknown[]>;

/** Asks for pages of one size, which is sent unless it is the usual one. */
function asking({ instance, forest }: Forge, { as, address, parameters = {} }: List, per_page = usualSize): Ask {
  const client: Client = clientOf(`${instance.url}/api/v4`, as === 'nobody' ? undefined : tokens[as]);
  const place = typeof address === 'string' ? address : address(forest);
  return async (page) => {
    const paging = { ...(page > 1 && { page }), ...(per_page !== usualSize && { per_page }) };
    const { status, body } = await client.get(place, { ...parameters, ...paging });
    if (status !== 200) throw new Error(`${place} answers ${status}`);
    return body;
  };
}

/** The last page with rows, or the last that is allowed: long lists do not say how many they have. */
async function furthestPage(ask: Ask): Promise<number> {
  let [full, empty] = [1, lastPage + 1];
  while (empty - full > 1) {
    const page = Math.floor((full + empty) / 2);
    if ((await ask(page)).length > 0) full = page;
    else empty = page;
  }
  return full;
}

/** With the processor time of a request, which says more than its duration where others use the machine. */
async function inBoth(
  forges: readonly Forge[],
  works: readonly (() => Promise<unknown>)[],
): Promise<[Measured, Measured]> {
  const spent = () => Promise.all(forges.map(({ instance }) => instance.cpu_ms()));
  await inTurn(5, ...works);
  const before_ms = await spent();
  const measured = await inTurn(turns, ...works);
  const after_ms = await spent();
  const [large, small] = measured.map((times, index) => ({
    ...times,
    cpu_ms: (after_ms[index]! - before_ms[index]!) / turns,
  }));
  return [large!, small!];
}

/**
 * The first page, and the furthest of each: as an offset is walked, that of the longer list takes longer, and has no ratio to keep. Its size is unusual, so that it does
 * not begin where another page has just ended, which the server remembers.
 */
async function compare(forges: readonly [large: Forge, small: Forge], list: List): Promise<Row[]> {
  const asks = forges.map((forge) => asking(forge, list));
  const first = await inBoth(
    forges,
    asks.map((ask) => () => ask(1)),
  );
  const rows = [besideRow(list.name, ...first, 'P90 ≤ 100 ms, ≤ 2×')];
  const pages = (await Promise.all(asks.map(furthestPage))).map((page) =>
    Math.max(1, Math.floor((page * usualSize) / unusualSize)),
  );
  if (pages[0]! < 2) return rows;
  const far = await inBoth(
    forges,
    forges.map((forge, index) => () => asking(forge, list, unusualSize)(pages[index]!)),
  );
  const name = `${list.name}, page ${pages.join(' : ')} of ${unusualSize}`;
  return [...rows, besideRow(name, ...far, 'P90 ≤ 100 ms')];
}

/** Half of all projects away from the first page, where offsets do not reach. */
async function compareKeys(forges: readonly [large: Forge, small: Forge]): Promise<Row> {
  const works = forges.map((forge) => {
    const parameters = { pagination: 'keyset', order_by: 'id', id_before: forge.forest.projects / 2 };
    const ask = asking(forge, { name: 'keyset', as: 'gardener', address: '/projects', parameters });
    return () => ask(1);
  });
  return besideRow('projects by keyset, from the middle', ...(await inBoth(forges, works)), 'P90 ≤ 100 ms, ≤ 2×');
}

async function compareForges(forges: readonly [large: Forge, small: Forge]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const list of [...projectLists, ...groupLists, ...peopleLists]) rows.push(...(await compare(forges, list)));
  return [...rows, await compareKeys(forges)];
}

/**
 * Seeds two instances, and measures.
 * @param folder for their data
 */
export async function measureLongLists(folder: string): Promise<Row[]> {
  const large = await startInstance(path.join(folder, 'large_forest'));
  const small = await startInstance(path.join(folder, 'small_forest'));
  try {
    const forges = [
      { instance: large, forest: await seedForest(large, 200_000, 21_000) },
      { instance: small, forest: await seedForest(small, 10_000, 1000) },
    ] as const;
    return await compareForges(forges);
  } finally {
    await large.stop();
    await small.stop();
  }
}
