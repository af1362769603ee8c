/** Reads XML of providers: elements with their namespaces, within limits, and without document types. */
import { SaxesParser } from 'saxes';
import { ProviderError } from './definition.ts';

export interface Element {
  namespace: string;
  name: string;
  /** Attributes without a namespace, by name. */
  attributes: Readonly<Record<string, string>>;
  children: Element[];
  /** The text in it, without that of its children. Comments neither end nor join it with anything else. */
  text: string;
  parent: Element | undefined;
}

const mostElements = 20_000;
const mostLevels = 60;

/**
 * The root element of a document.
 * @throws ProviderError for what is no XML, has a document type, or is too large
 */
export function elementOf(xml: string): Element {
  const parser = new SaxesParser({ xmlns: true });
  let root: Element | undefined;
  let open: Element | undefined;
  let count = 0;
  let level = 0;
  parser.on('doctype', () => {
    throw new ProviderError('document type');
  });
  parser.on('error', () => {
    throw new ProviderError('no XML');
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    if (++count > mostElements || ++level > mostLevels) throw new ProviderError('too much XML');
    const plain = Object.values(attributes).filter(({ prefix, name }) => prefix === '' && name !== 'xmlns');
    const element: Element = {
      namespace: uri,
      name: local,
      attributes: Object.fromEntries(plain.map(({ name, value }) => [name, value])),
      children: [],
      text: '',
      parent: open,
    };
    if (open) open.children.push(element);
    else root = element;
    open = element;
  });
  parser.on('closetag', () => {
    level--;
    open = open?.parent;
  });
  const add = (text: string) => {
    if (open) open.text += text;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(xml).close();
  return root!;
}

/** An element and all in it. */
export const allIn = (element: Element): Element[] => [element, ...element.children.flatMap(allIn)];

/** The children of a name. */
export const childrenOf = ({ children }: Element, namespace: string, name: string): Element[] =>
  children.filter((child) => child.namespace === namespace && child.name === name);

/** The only child of a name, if there is one. @throws ProviderError if there are several */
export function childOf(element: Element, namespace: string, name: string): Element | undefined {
  const [child, ...more] = childrenOf(element, namespace, name);
  if (more.length > 0) throw new ProviderError(`several ${name}`);
  return child;
}
