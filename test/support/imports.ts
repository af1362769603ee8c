/** The imports between files of the product, as its tests and its documentation need them. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const src = path.resolve(import.meta.dirname, '../../src');

/** Both ends are paths below src/. */
export interface Import {
  from: string;
  to: string;
}

/** The districts of src/areas/ from the ground up: each may use those before it. */
export const districts = [
  'instance',
  'people',
  'activity',
  'planning',
  'deployments',
  'code',
  'spaces',
  'ci',
  'conversation',
  'work',
  'migration',
  'geo',
  'web',
] as const;

/** Every import of one file of the product by another. Tests may import what they like. */
export async function imports(): Promise<Import[]> {
  const files = (await readdir(src, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const found = await Promise.all(
    files.map(async (from) => {
      const text = await readFile(path.join(src, from), 'utf8');
      return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, to]) => ({
        from,
        to: path.join(path.dirname(from), to!),
      }));
    }),
  );
  return found.flat();
}

/** `district/area` of a file below areas/, e.g. `code/lfs`. */
export function areaOf(file: string): string | undefined {
  const [folder, district, area, ...rest] = file.split(path.sep);
  return folder === 'areas' && rest.length > 0 ? `${district}/${area}` : undefined;
}

/** The district of a file below areas/, e.g. `code`, also where the file is of no single area. */
export function districtOf(file: string): string | undefined {
  const [folder, district, ...rest] = file.split(path.sep);
  return folder === 'areas' && rest.length > 0 ? district : undefined;
}

const placeOf = (district: string) => (districts as readonly string[]).indexOf(district);

/** Which districts below it each district uses. */
function uses(all: readonly Import[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>(districts.map((district) => [district, new Set()]));
  for (const { from, to } of all) {
    const [user, used] = [districtOf(from), districtOf(to)];
    if (user && used && placeOf(used) < placeOf(user)) found.get(user)?.add(used);
  }
  return found;
}

/** Every district with those to which arrows lead from it, over any number of others. */
export async function reachable(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const used = uses(await imports());
  const found = new Map<string, Set<string>>();
  // From the ground up: what is below is known by then.
  for (const district of districts)
    found.set(district, new Set([...used.get(district)!].flatMap((next) => [next, ...found.get(next)!])));
  return found;
}

/**
 * The districts as a Mermaid graph. An arrow that others imply is left out: where work uses planning, and planning people, work may use people, too.
 * @returns the lines of a fenced block, ready for docs/architecture.md
 */
async function districtGraph(): Promise<string> {
  const used = uses(await imports());
  const reached = await reachable();
  const arrows = [...districts].reverse().flatMap((from) =>
    [...used.get(from)!]
      .filter((to) => ![...used.get(from)!].some((other) => reached.get(other)!.has(to)))
      .sort()
      .map((to) => `  ${from} --> ${to}`),
  );
  return ['```mermaid', 'graph TD', ...arrows, '```'].join('\n');
}

const [begin, end] = ['<!-- districts: begin -->', '<!-- districts: end -->'];

/** The text of docs/architecture.md with the graph of today in its place. */
export async function withDistrictGraph(text: string): Promise<string> {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined)
    throw new Error(`docs/architecture.md lacks ${begin} … ${end}, where the graph of districts goes`);
  return `${before}${begin}\n${await districtGraph()}\n${end}${after}`;
}
