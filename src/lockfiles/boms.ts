/** Bills of materials: CycloneDX 1.4 to 1.6 and SPDX 2.3, in JSON. */
import { Collector, type Contents, Unreadable } from './entries.ts';
import { arrayAt, itemsOf, jsonOf, memberOf, objectIn, textAt } from './formats.ts';
import { licensesIn } from './licenses.ts';
import { isOfOtherType, readPurl } from './purls.ts';

const propertyOf = (about: unknown, name: string): string =>
  textAt(
    itemsOf(memberOf(about, 'properties')).find(
      (property) => textAt(property, 'name') === `gitlab:dependency_scanning:${name}`,
    ),
    'value',
  );

function licensesOfComponent(component: unknown): string[] {
  return licensesIn(
    itemsOf(memberOf(component, 'licenses')).map((each) => {
      const license = memberOf(each, 'license');
      return textAt(each, 'expression') || textAt(license, 'id') || textAt(license, 'name');
    }),
  );
}

/** The references of the direct dependencies of a document's subject; undefined when the document does not list them. */
function directIn(document: unknown): Set<string> | undefined {
  const subject = textAt(memberOf(memberOf(document, 'metadata'), 'component'), 'bom-ref');
  const edges = itemsOf(memberOf(document, 'dependencies')).find(
    (each) => subject !== '' && textAt(each, 'ref') === subject,
  );
  return edges === undefined ? undefined : new Set(itemsOf(memberOf(edges, 'dependsOn')).map(String));
}

/** A component without a package URL is not a package, and packages of some types are not listed. Other components are reported as not understood. */
function noteUnread(purl: string, found: Collector): void {
  if (purl !== '' && !isOfOtherType(purl)) found.unknown(purl);
}

/** @throws Unreadable */
export function readCycloneDx(bytes: Uint8Array, path: string): Contents {
  const document = objectIn(jsonOf(bytes));
  if (textAt(document, 'bomFormat') !== 'CycloneDX') throw new Unreadable('It is not a CycloneDX document.');
  if (!/^1\.[456]$/.test(textAt(document, 'specVersion')))
    throw new Unreadable('Its `specVersion` is not 1.4, 1.5 or 1.6.');
  const ofDocument = propertyOf(memberOf(document, 'metadata'), 'input_file:path');
  const direct = directIn(document);
  const found = new Collector('npm');
  const left = arrayAt(document, 'components').toReversed();
  for (let component = left.pop(); component !== undefined; component = left.pop()) {
    left.push(...itemsOf(memberOf(component, 'components')));
    const named = propertyOf(component, 'input_file:path') || propertyOf(component, 'source_file:path') || ofDocument;
    const source_path = named === '' || named === path ? null : named;
    const purl = readPurl(textAt(component, 'purl'), source_path ?? path);
    if (!purl) {
      noteUnread(textAt(component, 'purl'), found);
      continue;
    }
    const category = propertyOf(component, 'category');
    found.add({
      ...purl,
      source_path,
      direct: direct === undefined ? null : direct.has(textAt(component, 'bom-ref')),
      development: /^dev/i.test(category) || textAt(component, 'scope') === 'excluded',
      licenses: licensesOfComponent(component),
    });
  }
  return found.contents();
}

/** A relationship, normalised to the dependency direction: `B DEV_DEPENDENCY_OF A` becomes `A DEV DEPENDS_ON B`. */
function edgeOf(relationship: unknown): { from: string; type: string; to: string } {
  const [from, to] = [textAt(relationship, 'spdxElementId'), textAt(relationship, 'relatedSpdxElement')];
  const type = textAt(relationship, 'relationshipType');
  const [, kind] = /^(?:(\w+)_)?DEPENDENCY_OF$/.exec(type) ?? [];
  if (!type.endsWith('DEPENDENCY_OF')) return { from, type, to };
  return { from: to, type: `${kind === undefined ? '' : `${kind} `}DEPENDS_ON`, to: from };
}

/** @throws Unreadable */
export function readSpdx(bytes: Uint8Array, path: string): Contents {
  const document = objectIn(jsonOf(bytes));
  if (textAt(document, 'spdxVersion') !== 'SPDX-2.3')
    throw new Unreadable('It is not an SPDX document of version 2.3.');
  const edges = arrayAt(document, 'relationships').map((each) => edgeOf(each));
  const described = new Set(
    edges.flatMap(({ from, type, to }) => (type === 'DESCRIBES' ? [to] : type === 'DESCRIBED_BY' ? [from] : [])),
  );
  const ofSubject = edges.filter(({ from, type }) => type.endsWith('DEPENDS_ON') && described.has(from));
  const direct = new Set(ofSubject.map(({ to }) => to));
  const development = new Set(edges.flatMap(({ type, to }) => (/^(?:DEV|TEST) /.test(type) ? [to] : [])));
  const found = new Collector('npm');
  for (const about of arrayAt(document, 'packages')) {
    const id = textAt(about, 'SPDXID');
    const reference = itemsOf(memberOf(about, 'externalRefs')).find((each) => textAt(each, 'referenceType') === 'purl');
    if (described.has(id)) continue;
    const purl = readPurl(textAt(reference, 'referenceLocator'), path);
    if (!purl) {
      noteUnread(textAt(reference, 'referenceLocator'), found);
      continue;
    }
    const concluded = licensesIn(memberOf(about, 'licenseConcluded'));
    found.add({
      ...purl,
      direct: ofSubject.length > 0 ? direct.has(id) : null,
      development: development.has(id),
      licenses: concluded.length > 0 ? concluded : licensesIn(memberOf(about, 'licenseDeclared')),
    });
  }
  return found.contents();
}

/**
 * A document of either kind, since an upload does not name its kind.
 * @throws Unreadable
 */
export function readBom(bytes: Uint8Array, path: string): Contents {
  const isSpdx = memberOf(jsonOf(bytes), 'spdxVersion') !== undefined;
  return isSpdx ? readSpdx(bytes, path) : readCycloneDx(bytes, path);
}
