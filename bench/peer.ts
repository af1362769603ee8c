/**
 * A peer: another platform with the API of Gitea or Gogs, which is measured with the same repository and the same issues. Their APIs differ in some addresses,
 * so each operation names several, and the first that the peer knows counts.
 */
import path from 'node:path';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn, load, type Measurable } from './measure.ts';
import { fourKilobytes, git, seed } from './seed.ts';
import { missingRow, type Row, ratesRow, timesRow } from './table.ts';

export interface Peer {
  name: string;
  /** The root of its API with the version, e.g. `http://127.0.0.1:3001/api/v1`. */
  url: string;
  token: string;
}

export const peerVariables =
  'The part `peer` needs PEER, the name of the other platform, PEER_URL, the root of its API with the version (e.g. http://127.0.0.1:3001/api/v1), and PEER_TOKEN, a token that may create repositories there.';

/** @returns undefined unless all three variables are set */
export function peerFrom({ PEER: name, PEER_URL: url, PEER_TOKEN: token }: NodeJS.ProcessEnv): Peer | undefined {
  return name && url && token ? { name, url: url.replace(/\/$/, ''), token } : undefined;
}

/** Enough that each of the labels is on more than a page. */
const issues = 400;
const labels = Array.from({ length: 10 }, (_, index) => `label-${index}`);
const labelOf = (number: number) => number % labels.length;
const titleOf = (number: number) => `Issue ${number}`;
const oneKilobyte = 'y'.repeat(1000);
const description = 'What is wrong, and how to see it. '.repeat(10);

/** A repository at the peer. */
interface Place extends Peer {
  owner: string;
  repository: string;
  /** Its default branch, which has the commits of `main`: Gogs chooses the name itself, and lists the commits of no other branch. */
  branch: string;
}

const placeUrl = ({ url, owner, repository }: Place) => `${url}/repos/${owner}/${repository}`;
const withToken = (peer: Peer) => ({ authorization: `token ${peer.token}` });
/** Both accept the token as the password of its user. */
const asGit = ({ owner, token }: Place) => ({
  authorization: `Basic ${Buffer.from(`${owner}:${token}`).toString('base64')}`,
});
const cloneUrl = ({ url, owner, repository }: Place) => `${url.replace(/\/api\/v\d+$/, '')}/${owner}/${repository}.git`;

const ask = (peer: Peer, url: string, method = 'GET', body?: object) =>
  fetch(url, {
    method,
    headers: { ...withToken(peer), 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  });

/** Whether a server has an operation. Refusals other than 404 and 405 are shown as well, because they may be a mistake of this part. */
function isKnown({ ok, status, url }: Response): boolean {
  if (!ok && status !== 404 && status !== 405) console.error(`${url} answers ${status}`);
  return ok;
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}: ${text}`);
  return text;
}

const create = async <T>(peer: Peer, url: string, body: object): Promise<T> =>
  JSON.parse(await textOf(await ask(peer, url, 'POST', body)));

/** Pushes the repository of the instance and creates the issues. */
async function seedPeer(peer: Peer, source: string): Promise<Place> {
  const { login } = JSON.parse(await textOf(await ask(peer, `${peer.url}/user`))) as { login: string };
  const repository = `bench-${Date.now()}`;
  const creation = { name: repository, private: true, default_branch: 'main' };
  const { default_branch } = await create<{ default_branch: string }>(peer, `${peer.url}/user/repos`, creation);
  // Gogs does not say it before the first push.
  const place = { ...peer, owner: login, repository, branch: default_branch || 'master' };
  const remote = cloneUrl(place).replace('://', `://${login}:${peer.token}@`);
  await git(
    '-C',
    source,
    'push',
    '--quiet',
    remote,
    `main:refs/heads/${place.branch}`,
    'refs/heads/many/*:refs/heads/many/*',
  );
  const ids: number[] = [];
  for (const name of labels)
    ids.push((await create<{ id: number }>(peer, `${placeUrl(place)}/labels`, { name, color: '#6699cc' })).id);
  for (let number = 1; number <= issues; number++)
    await create(peer, `${placeUrl(place)}/issues`, {
      title: titleOf(number),
      body: description,
      labels: [ids[labelOf(number)]],
    });
  return place;
}

async function seedIssues({ api }: Instance, project: number): Promise<void> {
  for (let number = 1; number <= issues; number++)
    await api.post(`/projects/${project}/issues`, {
      title: titleOf(number),
      description,
      labels: labels[labelOf(number)],
    });
}

interface Operation {
  name: string;
  /** Addresses below the root of the product, asked in turn. */
  own: readonly string[];
  /** Ways to ask the peer, each with as many addresses. */
  theirs: readonly (readonly string[])[];
  headers?: { own: Record<string, string>; theirs: Record<string, string> };
  /** Whether a reply is what was asked for: some servers ignore parameters that they do not know. */
  isRight?(body: unknown): boolean;
}

interface LabelledIssue {
  labels: { name: string }[];
}

const bears = (label: string) => (body: unknown) =>
  (body as LabelledIssue[]).every((issue) => issue.labels.some(({ name }) => name === label));

function operationsOf(place: Place, project: number): Operation[] {
  const [base, own] = [placeUrl(place), `/api/v4/projects/${project}`];
  const refs = '/info/refs?service=git-upload-pack';
  const protocol = { 'git-protocol': 'version=2' };
  const asOwnGit = `Basic ${Buffer.from(`root:${token}`).toString('base64')}`;
  const numbers = Array.from({ length: 200 }, (_, index) => 1 + index);
  const newest = 'state=open&page=1&limit=20';
  return [
    {
      name: 'info/refs, protocol 2',
      own: [`/root/bench.git${refs}`],
      theirs: [[`${cloneUrl(place)}${refs}`]],
      headers: { own: { ...protocol, authorization: asOwnGit }, theirs: { ...protocol, ...asGit(place) } },
    },
    {
      name: 'GET 20 commits',
      own: [`${own}/repository/commits?ref_name=main`],
      theirs: [[`${base}/commits?sha=${place.branch}&limit=20&pageSize=20&stat=false&verification=false&files=false`]],
    },
    { name: 'GET 20 branches', own: [`${own}/repository/branches`], theirs: [[`${base}/branches?page=1&limit=20`]] },
    {
      name: 'GET a raw file (4 KB)',
      own: fourKilobytes.map((file) => `${own}/repository/files/${encodeURIComponent(file)}/raw?ref=main`),
      theirs: [
        fourKilobytes.map((file) => `${base}/raw/${place.branch}/${file}`),
        fourKilobytes.map((file) => `${base}/raw/${file}?ref=${place.branch}`),
      ],
    },
    {
      name: 'GET an issue',
      own: numbers.map((iid) => `${own}/issues/${iid}`),
      theirs: [numbers.map((index) => `${base}/issues/${index}`)],
    },
    { name: 'GET 20 issues', own: [`${own}/issues?state=opened`], theirs: [[`${base}/issues?type=issues&${newest}`]] },
    {
      name: 'GET 20 issues of a label',
      own: [`${own}/issues?state=opened&labels=label-1`],
      theirs: [[`${base}/issues?type=issues&labels=label-1&${newest}`]],
      isRight: bears('label-1'),
    },
  ];
}

/** The number of items in the reply, undefined for other replies, and false where the peer does not have the operation. */
async function probe(url: string, headers: Record<string, string>, isRight?: Operation['isRight']) {
  const response = await fetch(url, { headers });
  if (!isKnown(response)) return false;
  const text = await textOf(response);
  if (!response.headers.get('content-type')?.includes('json')) return undefined;
  const body: unknown = JSON.parse(text);
  if (isRight && !isRight(body)) return false;
  return Array.isArray(body) ? body.length : undefined;
}

/** The processor time of the peer is unknown: it may run anywhere. */
const loadPeer = async (place: Place, paths: readonly string[], headers: Record<string, string>) => {
  const { origin } = new URL(place.url);
  const peer: Measurable = { url: origin, cpu_ms: async () => 0 };
  const { cpu_ms: _unknown, ...measured } = await load(
    peer,
    paths.map((path) => path.slice(origin.length)),
    { headers },
  );
  return measured;
};

async function compare(
  instance: Instance,
  place: Place,
  { name, own, theirs, headers, isRight }: Operation,
): Promise<Row> {
  const header = headers ?? { own: { 'private-token': token }, theirs: withToken(place) };
  const product = await load(instance, own, { headers: header.own });
  const operation = `${name}, beside ${place.name}`;
  const ownItems = await probe(`${instance.url}${own[0]!}`, header.own);
  for (const paths of theirs) {
    const items = await probe(paths[0]!, header.theirs, isRight);
    if (items === false) continue;
    // A peer that has another size of pages does other work.
    const note = items === ownItems ? '' : ` (${items} there)`;
    return ratesRow(`${operation}${note}`, product, await loadPeer(place, paths, header.theirs), '');
  }
  return missingRow(operation, product);
}

/** How the peer creates a file: Gitea with POST, Gogs with PUT. Undefined if it does neither. */
async function creating(place: Place) {
  const content = Buffer.from(oneKilobyte).toString('base64');
  const put = (method: string, name: string) =>
    ask(place, `${placeUrl(place)}/contents/new/${name}.txt`, method, {
      branch: place.branch,
      message: 'Add',
      content,
    });
  for (const method of ['POST', 'PUT']) {
    // Gogs writes the first file in a fresh clone and all others in that clone, which some versions of git do not let it update.
    if (isKnown(await put(method, 'first')) && isKnown(await put(method, 'second')))
      return async (turn: number) => textOf(await put(method, `file${turn}`));
  }
  return undefined;
}

async function createFile({ api }: Instance, place: Place, project: number): Promise<Row> {
  const own = (turn: number) =>
    api.post(`/projects/${project}/repository/files/new%2Ffile${turn}.txt`, {
      branch: 'main',
      commit_message: 'Add',
      content: oneKilobyte,
    });
  const theirs = await creating(place);
  const [product, peer] = await inTurn(50, own, ...(theirs ? [theirs] : []));
  const operation = `create a file, beside ${place.name}`;
  return peer ? timesRow(operation, product!, peer, '') : missingRow(operation, product!);
}

/**
 * Seeds an instance and the peer, and measures both. The repository at the peer is deleted at the end.
 * @param folder for the data of the instance
 */
export async function measurePeer(folder: string, peer: Peer): Promise<Row[]> {
  const inside = path.join(folder, 'peer');
  const instance = await startInstance(path.join(inside, 'data'));
  try {
    const { project } = await seed(instance, inside);
    await seedIssues(instance, project);
    const place = await seedPeer(peer, path.join(inside, 'source.git'));
    const rows: Row[] = [];
    for (const operation of operationsOf(place, project)) rows.push(await compare(instance, place, operation));
    rows.push(await createFile(instance, place, project));
    await textOf(await ask(place, placeUrl(place), 'DELETE'));
    return rows;
  } finally {
    await instance.stop();
  }
}
