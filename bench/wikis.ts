/** Wikis of 5,000 pages, beside a repository with the same files. */
import path from 'node:path';
import { type Instance, startInstance, token } from './instance.ts';
import { inTurn, load } from './measure.ts';
import { commitOf, fastImport, git } from './seed.ts';
import { ms, plainRow, type Row, ratesRow, timesRow } from './table.ts';

const headers = { 'private-token': token };

const pages = Array.from({ length: 5000 }, (_, index) => `folder-${index % 10}/page-${index}`);
/** Read in turn, so that no answer is the one before. */
const read = pages.filter((_, index) => index % 25 === 0);

function* history(): Generator<string> {
  for (const [number, slug] of pages.entries()) {
    const text = `---\ntitle: Page ${number}\ntags: [a, b]\n---\n`.padEnd(4096, 'x');
    yield commitOf(number, 'main', `${slug}.md`, text);
  }
}

/** @returns the paths in the API of the wiki and of the files beside it */
async function seeded({ api, url }: Instance, folder: string): Promise<{ wiki: string; files: string }> {
  const { id } = (await api.post('/projects', { name: 'wiki' })).body;
  const source = path.join(folder, 'pages.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history());
  for (const name of ['wiki', 'wiki.wiki'])
    await git(
      '-C',
      source,
      'push',
      '--quiet',
      '--mirror',
      `${url.replace('://', `://root:${token}@`)}/root/${name}.git`,
    );
  return { wiki: `/projects/${id}/wikis`, files: `/projects/${id}/repository/files` };
}

const content = 'y'.repeat(4096);

/** @param folder for the data of the instance */
export async function measureWikis(folder: string): Promise<Row[]> {
  const instance = await startInstance(path.join(folder, 'wikis'));
  const { api } = instance;
  const rows: Row[] = [];
  const add = async (row: Row) => {
    const block = ms(await instance.longestBlock_ms());
    rows.push({ ...row, block: row.block || block });
  };
  try {
    const { wiki, files } = await seeded(instance, folder);
    const page = (slug: string) => `${wiki}/${encodeURIComponent(slug)}`;
    const file = (slug: string) => `${files}/${encodeURIComponent(`${slug}.md`)}`;
    await instance.longestBlock_ms();
    const [first] = await inTurn(1, () => api.get(wiki));
    await add(plainRow('list 5,000 wiki pages, first time', ms(first!.p50_ms), '', first));
    const [list] = await inTurn(50, () => api.get(wiki));
    await add(plainRow('list 5,000 wiki pages', ms(list!.p50_ms), 'P90 ≤ 100 ms', list));
    const memory_bytes = await instance.memory_bytes();
    const [whole] = await inTurn(10, () => api.get(wiki, { with_content: true }));
    await add(plainRow('list 5,000 wiki pages with content', ms(whole!.p50_ms), 'streamed', whole));
    const more = Math.round(((await instance.memory_bytes()) - memory_bytes) / 1e6);
    rows.push(plainRow('more memory after it (PSS)', `${more} MB`, ''));
    const ofPages = await load(
      instance,
      read.map((slug) => `/api/v4${page(slug)}`),
      { headers },
    );
    const ofFiles = await load(
      instance,
      read.map((slug) => `/api/v4${file(slug)}?ref=main`),
      { headers },
    );
    await add(ratesRow('GET a wiki page (4 KB), beside a file', ofPages, ofFiles, '≥ 100 %'));
    const commit = { branch: 'main', commit_message: 'Change' };
    const [created, beside] = await inTurn(
      50,
      (turn) => api.post(wiki, { title: `new/page ${turn}`, content }),
      (turn) => api.post(file(`new/page-${turn}`), { ...commit, content }),
    );
    await add(timesRow('create a wiki page, beside a file', created!, beside!, '≤ 1.1×'));
    const [changed, file_changed] = await inTurn(
      50,
      (turn) => api.put(page(read[turn]!), { content: content + turn }),
      (turn) => api.put(file(read[turn]!), { ...commit, content: content + turn }),
    );
    await add(timesRow('update a wiki page, beside a file', changed!, file_changed!, '≤ 1.1×'));
    const [, after] = await inTurn(
      20,
      (turn) => api.put(page(read[turn]!), { content: `${turn}` }),
      () => api.get(wiki),
    );
    await add(plainRow('list 5,000 wiki pages after a change', ms(after!.p50_ms), 'P90 ≤ 100 ms', after));
  } finally {
    await instance.stop();
  }
  return rows;
}
