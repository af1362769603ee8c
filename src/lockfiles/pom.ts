/** `pom.xml` of Maven, completed by its parents in the same repository. */
import { posix } from 'node:path';
import { Collector, type Contents, type ParentBytes, Unreadable } from './entries.ts';
import { childOf, childrenOf, childText, type Element, xmlOf } from './formats.ts';
import { isExact } from './jvm.ts';
import { interpolated } from './properties.ts';

const maximumParents = 10;

/** @throws Unreadable */
export function projectIn(bytes: Uint8Array): Element {
  const project = xmlOf(bytes);
  if (project.name !== 'project') throw new Unreadable('It is not a project of Maven.');
  return project;
}

/** A member that a project inherits from its parent if it lacks it: `groupId` or `version`. */
export const inherited = (project: Element, name: string): string =>
  childText(project, name) || childText(childOf(project, 'parent'), name);

/** The path of the parent's file according to a project; undefined when the parent is not in the repository. */
function parentPath(project: Element, path: string): string | undefined {
  const parent = childOf(project, 'parent');
  const relative = parent && (childOf(parent, 'relativePath')?.text.trim() ?? '../pom.xml');
  if (!relative) return undefined;
  const joined = posix.join(posix.dirname(path), relative);
  if (joined.startsWith('../') || joined.startsWith('/')) return undefined;
  return joined.endsWith('.xml') ? joined : posix.join(joined, 'pom.xml');
}

/** Maven accepts a file as the parent only if it is the named project. */
function isParent(project: Element, other: Element): boolean {
  const named = childOf(project, 'parent');
  return (
    childText(named, 'groupId') === inherited(other, 'groupId') &&
    childText(named, 'artifactId') === childText(other, 'artifactId')
  );
}

/** An unreadable parent contributes nothing; it is listed as unreadable itself. */
function readableProject(bytes: Uint8Array): Element | undefined {
  try {
    return projectIn(bytes);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/**
 * A project and its parents, the nearest first.
 * @returns also the path of the next parent, if it was not given
 * @throws Unreadable
 */
function withParents(
  bytes: Uint8Array,
  path: string,
  parents: readonly ParentBytes[],
): { projects: Element[]; wants: string | undefined } {
  const projects = [projectIn(bytes)];
  const paths = [path];
  for (;;) {
    const wants = parentPath(projects.at(-1)!, paths.at(-1)!);
    if (wants === undefined) break;
    const given = wants === path ? { bytes } : parents.find((parent) => parent.path === wants);
    if (!given) return { projects, wants };
    const parent = given.bytes && readableProject(given.bytes);
    if (!parent || !isParent(projects.at(-1)!, parent)) break;
    if (paths.includes(wants)) throw new Unreadable('Its parents form a circle.');
    if (paths.length > maximumParents) throw new Unreadable(`It has more than ${maximumParents} parents.`);
    projects.push(parent);
    paths.push(wants);
  }
  return { projects, wants: undefined };
}

/** @param projects the nearest first, whose properties win */
function propertiesOf(projects: readonly Element[]): Map<string, string> {
  const all = projects.toReversed().flatMap((project) => childOf(project, 'properties')?.children ?? []);
  const properties = new Map(all.map(({ name, text }) => [name, text.trim()]));
  const [own] = projects;
  for (const name of ['groupId', 'artifactId', 'version']) {
    for (const prefix of ['project.', 'pom.']) properties.set(`${prefix}${name}`, inherited(own!, name));
    properties.set(`project.parent.${name}`, childText(childOf(own, 'parent'), name));
  }
  return properties;
}

interface Dependency {
  name: string;
  version: string;
  scope: string;
}

function dependenciesIn(place: Element | undefined, properties: ReadonlyMap<string, string>): Dependency[] {
  return childrenOf(childOf(place, 'dependencies'), 'dependency').map((each) => {
    const member = (name: string) =>
      interpolated(childText(each, name), /\$\{([^{}]+)\}/g, (property) => properties.get(property));
    return {
      name: `${member('groupId')}/${member('artifactId')}`,
      version: member('version').replace(/^\[([^,\]]+)\]$/, '$1'),
      scope: member('scope'),
    };
  });
}

const isRange = (version: string) => /^[[(]/.test(version);

/**
 * The dependencies of a `pom.xml` whose version is known: from the dependency itself, or from a property or the `dependencyManagement` of the project or a parent.
 * @param parents those that were found so far
 * @throws Unreadable
 */
export function readPom(bytes: Uint8Array, path: string, parents: readonly ParentBytes[] = []): Contents {
  const { projects, wants } = withParents(bytes, path, parents);
  const properties = propertiesOf(projects);
  const managed = new Map(
    projects
      .toReversed()
      .flatMap((project) => dependenciesIn(childOf(project, 'dependencyManagement'), properties))
      .map((each) => [each.name, each]),
  );
  const found = new Collector('maven');
  for (const { name, version, scope } of dependenciesIn(projects[0], properties)) {
    const exact = version || managed.get(name)?.version || '';
    const isKnown = isExact(exact) && !name.includes('${');
    if (!isKnown && !isRange(exact)) found.unknown(`${name} ${exact}`);
    if (isKnown)
      found.add({ name, version: exact, direct: true, development: (scope || managed.get(name)?.scope) === 'test' });
  }
  return { ...found.contents(), ...(wants !== undefined && { wants: [wants] }) };
}
