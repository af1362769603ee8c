/** Parses front matter; long front matter in a thread of its own: the parser takes half a second for a MiB, and cannot be interrupted. */
import { hash } from 'node:crypto';
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { type FrontMatter, jsonOf, yamlIn } from './parts.ts';

/** The parser takes some 10 ms for the worst YAML of this length. */
const short_chars = 16 * 1024;

const threads = new FairThreads<string, string | undefined>('front_matter/reading_worker', {
  heap_mib: 256,
  budget_ms: 5_000,
  mostWaiting: 1_000,
});

const none: FrontMatter = { json: '{}', end: 0 };

async function readLong(yaml: string, owner: number): Promise<string | undefined> {
  try {
    return await threads.run(yaml, { owner, content: hash('sha256', yaml) });
  } catch (error) {
    if (error instanceof OverBudget) return undefined;
    throw error;
  }
}

/**
 * The front matter of a page. Invalid front matter counts as text.
 * @param owner the owner of the page: owners take turns
 * @throws TooMuchWaiting when a thousand long ones of the owner are waiting
 */
export async function frontMatterOf(text: string, owner: number): Promise<FrontMatter> {
  const found = yamlIn(text);
  if (!found) return none;
  const { yaml, end } = found;
  const json = yaml.length <= short_chars ? jsonOf(yaml) : await readLong(yaml, owner);
  return json === undefined ? none : { json, end };
}
