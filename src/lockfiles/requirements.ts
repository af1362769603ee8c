/** Requirements of Python, as PEP 508 writes them: files of pip, `requires.txt`, `setup.py`, `setup.cfg` and `pyproject.toml`. */
import { posix } from 'node:path';
import { Collector, type Contents, pythonName, Unreadable } from './entries.ts';
import { itemsOf, memberOf, membersOf, objectIn, textAt, textOf, tomlOf } from './formats.ts';

/** The package of a requirement that allows exactly one version; undefined for others, since the installed version is unknown. */
export function pinned(requirement: string): { name: string; version: string } | undefined {
  const plain = requirement.trim().replaceAll(/\s+/g, ' ');
  const [, name, version] =
    /^([A-Za-z0-9][\w.-]*) ?(?:\[[^\]]*\] ?)?(?:\( ?)?={2,3} ?([^ ;,)*]+) ?(?:\) ?)?(?:;.*)?$/.exec(plain) ?? [];
  return name && version ? { name: pythonName(name), version } : undefined;
}

/** Whether a text is a requirement, with any version constraint, or the path or address of a package. */
export const isRequirement = (text: string): boolean =>
  /^[A-Za-z0-9][\w.-]*\s*(?:$|[[(;@,<>=!~])|^[A-Za-z][\w+.-]*:|^[./~$\\]|^[^\s:]*[/\\]/.test(text.trim());

/** The text before the first match of an expression; all of a text without one. */
function upTo(expression: RegExp, text: string): string {
  const at = text.search(expression);
  return at < 0 ? text : text.slice(0, at);
}

/** The lines of a file of pip: comments removed, continued lines joined, and options after a requirement cut off. */
function* linesOf(text: string): Generator<{ line: string; comment: string }> {
  let begun = '';
  for (const raw of text.split(/\r?\n/)) {
    const before = upTo(/(?:^|\s)#/, raw);
    const comment = raw.slice(before.length).trimStart().slice(1).trim();
    if (before.endsWith('\\')) {
      begun += before.slice(0, -1);
      continue;
    }
    yield { line: upTo(/\s--[a-z]/, `${begun}${before}`).trim(), comment };
    begun = '';
  }
}

const maximumIncludes = 100;

/** A path relative to another; undefined when it leads out of the repository. */
function beside(path: string, other: string): string | undefined {
  const joined = posix.join(posix.dirname(path), other);
  return joined.startsWith('..') || joined.startsWith('/') || other.includes('://') ? undefined : joined;
}

/**
 * A file of pip, or an output of pip-compile, whose comments tell why each package is included.
 * @param path of the file, to which those that it includes are relative
 * @throws Unreadable
 */
export function readRequirements(bytes: Uint8Array, path: string): Contents {
  const text = textOf(bytes);
  const isCompiled = /^[ \t]*# +via\b/m.test(text);
  const found = new Collector('pip');
  const includes: string[] = [];
  let last: { name: string; version: string; direct: boolean | null } | undefined;
  const finish = () => {
    if (last) found.add(last);
    last = undefined;
  };
  for (const { line, comment } of linesOf(text)) {
    // A file is named, or the project itself, whose file is `pyproject.toml` or the like.
    if (last && isCompiled && /(?:^|\s)-r |\((?:pyproject\.toml|setup\.(?:py|cfg))\)/.test(comment)) last.direct = true;
    if (line === '' || line.startsWith('[')) continue;
    finish();
    const included = /^(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s+)?([^\s=]\S*)$/.exec(line)?.[1];
    const other = included && beside(path, included);
    if (other && includes.length < maximumIncludes) includes.push(other);
    else if (included) found.unknown(line);
    // A package elsewhere; a folder is part of the project.
    if (/^(?:-e|--editable)(?:\s*=\s*|\s+)(?!file:)(?:[A-Za-z][\w+.-]*:|git@)/.test(line)) found.unknown(line);
    const pin = pinned(line);
    if (pin) last = { ...pin, direct: isCompiled ? /\bvia -r /.test(comment) : null };
    else if (!line.startsWith('-') && !isRequirement(line)) found.unknown(line);
  }
  finish();
  return found.contents(includes);
}

function collected(requirements: readonly string[], development: boolean, found: Collector): void {
  for (const requirement of requirements) {
    const pin = pinned(requirement);
    if (pin) found.add({ ...pin, direct: true, development });
    else if (requirement.trim() !== '' && !isRequirement(requirement)) found.unknown(requirement);
  }
}

/**
 * The literal texts of a list of Python.
 * @param text begins behind the opening bracket
 * @throws Unreadable when it contains other expressions, or does not end
 */
function literalsIn(text: string): string[] {
  const literals: string[] = [];
  for (const [token, double, single] of text.matchAll(/"([^"\n]*)"|'([^'\n]*)'|#.*|[\s,]+|[\s\S]/g)) {
    if (token === ']' || token === ')') return literals;
    if (double !== undefined || single !== undefined) literals.push(double ?? single!);
    else if (!/^[#\s,]/.test(token)) break;
  }
  throw new Unreadable('Its `install_requires` is not a list of literal texts.');
}

/**
 * `install_requires` of a `setup.py`.
 * @throws Unreadable when it is computed
 */
export function readSetupPy(bytes: Uint8Array): Contents {
  const found = new Collector('setuptools');
  const text = textOf(bytes);
  const [opening] = /\binstall_requires\s*=\s*[[(]?/.exec(text) ?? [];
  if (opening !== undefined) collected(literalsIn(text.slice(text.indexOf(opening) + opening.length)), false, found);
  return found.contents();
}

/** `install_requires` in the section `options` of a `setup.cfg`. */
export function readSetupCfg(bytes: Uint8Array): Contents {
  const found = new Collector('setuptools');
  let section = '';
  let key = '';
  for (const raw of textOf(bytes).split(/\r?\n/)) {
    const line = upTo(/(?:^|\s)[#;]/, raw);
    const [, title] = /^\[([^\]]*)\]/.exec(line) ?? [];
    const [, name, value = ''] = /^([\w.-]+)\s*[=:](?!=)(.*)$/.exec(line) ?? [];
    if (title !== undefined) [section, key] = [title.trim(), ''];
    else if (name !== undefined) key = name;
    if (section !== 'options' || key !== 'install_requires') continue;
    collected([name === undefined ? line : value], false, found);
  }
  return found.contents();
}

const texts = (value: unknown): string[] => itemsOf(value).filter((item) => typeof item === 'string');

/** Whether a version constraint of Poetry allows one version only: Poetry reads a bare version as exactly that version. */
const poetryPin = (allowed: string): string | undefined => /^(?:={2,3}\s*)?(\d[\w.!+-]*)$/.exec(allowed.trim())?.[1];

/** The members are packages with their constraints; for packages from other sources, an object without a version. */
function collectPoetry(packages: unknown, development: boolean, found: Collector): void {
  for (const [name, about] of membersOf(packages)) {
    if (name === 'python') continue;
    for (const each of Array.isArray(about) ? about : [about]) {
      const allowed = typeof each === 'string' ? each : textAt(each, 'version');
      const version = poetryPin(allowed);
      if (version !== undefined)
        found.add({ name: pythonName(name), version, manager: 'poetry', direct: true, development });
    }
  }
}

/** `dependencies` of the project in a `pyproject.toml`, and its dependency groups, which are for development; the same for Poetry, under names of its own. */
export function readPyproject(bytes: Uint8Array): Contents {
  const file = objectIn(tomlOf(bytes));
  const found = new Collector('setuptools');
  collected(texts(memberOf(memberOf(file, 'project'), 'dependencies')), false, found);
  for (const [, group] of membersOf(memberOf(file, 'dependency-groups'))) collected(texts(group), true, found);
  const poetry = memberOf(memberOf(file, 'tool'), 'poetry');
  collectPoetry(memberOf(poetry, 'dependencies'), false, found);
  collectPoetry(memberOf(poetry, 'dev-dependencies'), true, found);
  for (const [name, group] of membersOf(memberOf(poetry, 'group')))
    collectPoetry(memberOf(group, 'dependencies'), name !== 'main', found);
  return found.contents();
}
