/** Files of the build tools of the JVM: Gradle, Maven and sbt. Their packages are shown as `group/artifact`. */
import { Collector, type Contents, type PackageManager, Unreadable } from './entries.ts';
import {
  childOf,
  childrenOf,
  itemsOf,
  jsonOf,
  listedIn,
  memberOf,
  objectIn,
  textAt,
  textOf,
  xmlOf,
} from './formats.ts';

const isTest = (configuration: string) => /^(?:androidTest|test)|Test(?:[A-Z]|$)/.test(configuration);

/** Whether a text is a version, as opposed to a range, variable or keyword. */
export const isExact = (version: string) =>
  /^[0-9A-Za-z][\w.+-]*$/.test(version) && !/^latest\./.test(version) && !version.endsWith('+');

/** `gradle.lockfile`: `group:name:version=configuration,configuration`. */
export function readGradleLock(bytes: Uint8Array): Contents {
  const found = new Collector('gradle');
  for (const line of textOf(bytes).split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#') || line.startsWith('empty=')) continue;
    const [, group, name, version, configurations] = /^([^:=]+):([^:=]+):([^:=]+)(?:=(.*))?$/.exec(line.trim()) ?? [];
    if (!group || !name || !version) throw new Unreadable('It is not a lock file of Gradle.');
    const development = configurations?.split(',').every(isTest) ?? false;
    found.add({ name: `${group}/${name}`, version, development });
  }
  return found.contents();
}

/** The name of a package; empty without a group or an artifact. */
const coordinates = (group = '', artifact = ''): string =>
  group === '' || artifact === '' ? '' : `${group}/${artifact}`;

/** `gradle/verification-metadata.xml`: the checksums of everything that a build may download. */
export function readGradleVerification(bytes: Uint8Array): Contents {
  const found = new Collector('gradle');
  for (const { attributes } of childrenOf(childOf(xmlOf(bytes), 'components'), 'component'))
    found.add({ name: coordinates(attributes.group, attributes.name), version: attributes.version ?? '' });
  return found.contents();
}

/** `dependencies.lock` of the Nebula plugin. */
export function readNebula(bytes: Uint8Array): Contents {
  const found = new Collector('gradle');
  for (const [configuration, packages] of Object.entries(objectIn(jsonOf(bytes))))
    for (const [name, about] of listedIn(found, configuration, packages)) {
      // Projects of the same build have no version.
      if (memberOf(about, 'project') === true || memberOf(about, 'project') === 'true') continue;
      found.add({
        name: name.replace(':', '/'),
        version: textAt(about, 'locked'),
        direct: memberOf(about, 'transitive') === undefined,
        development: isTest(configuration),
      });
    }
  return found.contents();
}

/** `gradle.graph.txt`: what `gradle dependencies` prints. `a:b:1 -> 2` means that version 2 is used. */
export function readGradleGraph(bytes: Uint8Array): Contents {
  const found = new Collector('gradle');
  let configuration = '';
  for (const line of textOf(bytes).split(/\r?\n/)) {
    const [, indent, coordinates] = /^([|\s]*)[+\\]--- (\S.*)$/.exec(line) ?? [];
    if (coordinates === undefined) {
      if (/^[A-Za-z]\w*(?: - |$)/.test(line)) configuration = line.split(' ', 1)[0]!;
      continue;
    }
    if (coordinates.startsWith('project ')) continue;
    const [, group, name, version, used] =
      /^([^:\s]+):([^:\s]+)(?::(\{[^}]*\}|[^:\s]+))?(?: -> ([^\s:]+))?(?: .*)?$/.exec(coordinates) ?? [];
    const exact = used ?? version;
    if (group && name && exact && !exact.startsWith('{'))
      found.add({
        name: `${group}/${name}`,
        version: exact,
        direct: indent === '',
        development: isTest(configuration),
      });
    else found.unknown(coordinates);
  }
  return found.contents();
}

/** A program of Groovy, Kotlin or Scala without its comments; comment markers inside strings stay. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  const tokens = /"[^"\n]*"|'[^'\n]*'|\/\/|\/\*/g;
  let from = 0;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    const isLine = token[0] === '//';
    if (!isLine && token[0] !== '/*') continue;
    const end = text.indexOf(isLine ? '\n' : '*/', tokens.lastIndex);
    kept.push(text.slice(from, token.index));
    if (end < 0) return kept.join('');
    from = isLine ? end : end + '*/'.length;
    tokens.lastIndex = from;
  }
  return kept.join('') + text.slice(from);
}

/** Literal coordinates in `build.gradle` or `build.gradle.kts`. */
export function readGradleBuild(bytes: Uint8Array): Contents {
  const text = withoutComments(textOf(bytes));
  const found = new Collector('gradle');
  const add = (configuration: string, group: string, name: string, version: string) => {
    if (isExact(version))
      found.add({ name: `${group}/${name}`, version, direct: true, development: isTest(configuration) });
  };
  for (const [, configuration = '', coordinates = ''] of text.matchAll(
    /\b([a-z]\w*)[ \t]*(?:\([ \t]*)?["']([\w.-]+:[\w.-]+:[^"'$\s]+)["']/g,
  )) {
    const [group = '', name = '', version = ''] = coordinates.split(/[:@]/);
    if (configuration !== 'classpath') add(configuration, group, name, version);
  }
  const named =
    /\b([a-z]\w*)[ \t]*(?:\([ \t]*)?group[ \t]*[:=][ \t]*["']([\w.-]+)["'],[ \t]*name[ \t]*[:=][ \t]*["']([\w.-]+)["'],[ \t]*version[ \t]*[:=][ \t]*["']([^"'$]+)["']/g;
  for (const [, configuration = '', group = '', name = '', version = ''] of text.matchAll(named))
    add(configuration, group, name, version);
  return found.contents();
}

/** `build.sbt`: `"group" %% "artifact" % "version" % Test`. The suffix that `%%` adds is that of the Scala version, which is not looked up. */
export function readSbt(bytes: Uint8Array): Contents {
  const text = withoutComments(textOf(bytes));
  const found = new Collector('sbt');
  const coordinates = /"([\w.-]+)"[ \t]*%{1,3}[ \t]*"([\w.-]+)"[ \t]*%[ \t]*"([^"$]+)"(?:[ \t]*%[ \t]*"?([\w-]+))?/g;
  for (const [, group = '', name = '', version = '', scope = ''] of text.matchAll(coordinates))
    if (isExact(version))
      found.add({ name: `${group}/${name}`, version, direct: true, development: /^(?:test|it)/i.test(scope) });
  return found.contents();
}

/** `dependencies-compile.dot`: the graph of sbt's task `dependencyDot`. The node that nothing depends on is the project. */
export function readSbtDot(bytes: Uint8Array): Contents {
  const text = textOf(bytes);
  if (!/^\s*digraph\b/.test(text)) throw new Unreadable('It is not a graph in DOT.');
  const edges = [...text.matchAll(/"([^"\n]+)"[ \t]*->[ \t]*"([^"\n]+)"/g)].map(
    ([, from = '', to = '']) => [from, to] as const,
  );
  const targets = new Set(edges.map(([, to]) => to));
  const roots = new Set(edges.map(([from]) => from).filter((from) => !targets.has(from)));
  const direct = new Set(edges.filter(([from]) => roots.has(from)).map(([, to]) => to));
  const found = new Collector('sbt');
  for (const node of targets) {
    const [group, name, version] = node.split(':');
    if (group && name && version) found.add({ name: `${group}/${name}`, version, direct: direct.has(node) });
    else found.unknown(node);
  }
  return found.contents();
}

/** `maven.graph.json`: what `mvn dependency:tree -DoutputType=json` prints. The first node is the project. */
export function readMavenGraph(bytes: Uint8Array): Contents {
  const found = new Collector('maven');
  const left = itemsOf(memberOf(objectIn(jsonOf(bytes)), 'children')).map((node) => ({ node, direct: true }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, direct } = next;
    for (const child of itemsOf(memberOf(node, 'children'))) left.push({ node: child, direct: false });
    found.add({
      name: coordinates(textAt(node, 'groupId'), textAt(node, 'artifactId')),
      version: textAt(node, 'version'),
      direct,
      development: textAt(node, 'scope') === 'test',
    });
  }
  return found.contents();
}

/** Decides which of the three managers a purl of type `maven` belongs to, by the file that it comes from. */
export function jvmManagerOf(path: string): PackageManager {
  if (/gradle|dependencies\.lock$/.test(path)) return 'gradle';
  return /sbt|\.dot$/.test(path) ? 'sbt' : 'maven';
}
