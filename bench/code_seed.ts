/** Projects full of code: the sources of the packages that are installed here, again and again, each file with a first line of its own. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Instance, token } from './instance.ts';
import { commitOf, fastImport, git } from './seed.ts';

const packages = path.join(import.meta.dirname, '../node_modules');
const projectSize_bytes = 2 * 1024 * 1024;
const largestFile_bytes = 200_000;
const pushedAtOnce = 2;

/** A word that one file in so many has. */
export const rareWord = 'quincunx';
const filesForRareWord = 10_000;

interface Source {
  name: string;
  text: string;
}

/** The sources of packages, by path. */
async function readSources(): Promise<Source[]> {
  const entries = await readdir(packages, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.([cm]?[jt]s|md)$/.test(entry.name));
  const sources: Source[] = [];
  for (const file of files.map(({ parentPath, name }) => path.join(parentPath, name)).sort()) {
    const { size } = await stat(file);
    if (size < largestFile_bytes)
      sources.push({ name: path.relative(packages, file), text: await readFile(file, 'utf8') });
  }
  return sources;
}

/** Files of 2 MB together. */
function* filesOf(project: number, sources: readonly Source[]): Generator<string> {
  let bytes = 0;
  for (let index = 0; bytes < projectSize_bytes; index++) {
    const { name, text } = sources[(project * 4_409 + index * 7_919) % sources.length]!;
    const number = project * 1_000 + index;
    const first = `// file ${number}${number % filesForRareWord === 0 ? ` ${rareWord}` : ''}\n`;
    bytes += text.length;
    yield commitOf(index, 'main', `${index}/${name}`, first + text);
  }
}

/** Waits until the index of code has all projects. @returns its bytes */
async function indexed({ api }: Instance, projects: number): Promise<number> {
  for (;;) {
    const { body } = await api.get('/admin/search/index');
    if (body.failed > 0) throw new Error(JSON.stringify(body.failures));
    if (body.indexed >= projects) return body.bytes;
    await sleep(500);
  }
}

/**
 * Pushes code to projects, and waits for the index.
 * @param paths full paths of empty projects
 * @param folder for the repositories that are pushed
 * @returns how many bytes of text there are, how many the index has, and how long it was written after the last push
 */
export async function seedCode(instance: Instance, paths: readonly string[], folder: string) {
  const sources = await readSources();
  const remote = instance.url.replace('://', `://root:${token}@`);
  const waiting = [...paths.entries()];
  const push = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [number, project] = next;
      const repository = path.join(folder, `${number}.git`);
      await git('init', '--quiet', '--bare', repository);
      await fastImport(repository, filesOf(number, sources));
      await git('-C', repository, 'push', '--quiet', `${remote}/${project}.git`, 'refs/heads/main');
      await rm(repository, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: pushedAtOnce }, push));
  const began = performance.now();
  const index_bytes = await indexed(instance, paths.length);
  return { text_bytes: paths.length * projectSize_bytes, index_bytes, took_ms: performance.now() - began };
}
