/** HTML as browsers read it: elements with their attributes, and the forms among them. */
import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/** An element of a document. */
export interface Element {
  name: string;
  attributes: ReadonlyMap<string, string>;
  /** All text in it. */
  text: string;
  children: readonly Element[];
}

const textOf = (node: DefaultTreeAdapterTypes.Node): string =>
  'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';

function elementOf(node: DefaultTreeAdapterTypes.Element): Element {
  const inside = 'content' in node ? (node as DefaultTreeAdapterTypes.Template).content : node;
  return {
    name: node.tagName,
    attributes: new Map(node.attrs.map(({ name, value }) => [name, value])),
    text: textOf(inside),
    children: inside.childNodes.filter((child) => 'tagName' in child).map(elementOf),
  };
}

/** An element and all that is in it, in the order of the document. */
function* withDescendants(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) yield* withDescendants(child);
}

/** All elements of a page. */
export function elementsOf(html: string): Element[] {
  const [root] = parse(html).childNodes.filter((node) => 'tagName' in node);
  return [...withDescendants(elementOf(root!))];
}

/** A field of a form, as someone sees it. */
export interface FormField {
  name: string;
  /** Of an input, otherwise the name of the element. */
  type: string;
  is_required: boolean;
  maximum: number | undefined;
  options: readonly string[];
  /** What it sends if nobody changes it. */
  values: readonly string[];
  /** What is said to be wrong with it. */
  reason: string | undefined;
}

/** A form of a page. */
export interface PageForm {
  id: string;
  /** Whether it changes something. */
  is_post: boolean;
  action: string;
  /** The names by which its buttons tell what is to be done. */
  does: readonly string[];
  fields: readonly FormField[];
  /** What is said above the fields, if it was refused. */
  summary: string | undefined;
}

const attribute = ({ attributes }: Element, name: string): string => attributes.get(name) ?? '';

function valuesOf(control: Element): string[] {
  if (control.name === 'textarea') return [control.text.replace(/^\n/, '')];
  if (control.name !== 'select') {
    const isUnticked = attribute(control, 'type') === 'checkbox' && !control.attributes.has('checked');
    return isUnticked ? [] : [attribute(control, 'value')];
  }
  const options = [...withDescendants(control)].filter(({ name }) => name === 'option');
  const selected = options.filter(({ attributes }) => attributes.has('selected'));
  const shown = selected.length > 0 || control.attributes.has('multiple') ? selected : options.slice(0, 1);
  return shown.map((option) => attribute(option, 'value'));
}

function fieldOf(control: Element, inside: readonly Element[], byId: ReadonlyMap<string, Element>): FormField {
  const fieldset = inside.find((each) => each.name === 'fieldset' && [...withDescendants(each)].includes(control));
  const described = attribute(control, 'aria-describedby') || attribute(fieldset ?? control, 'aria-describedby');
  const maximum = control.attributes.get('maxlength');
  return {
    name: attribute(control, 'name'),
    type: control.name === 'input' ? attribute(control, 'type') || 'text' : control.name,
    is_required: control.attributes.has('required'),
    maximum: maximum === undefined ? undefined : Number(maximum),
    options: [...withDescendants(control)]
      .filter(({ name }) => name === 'option')
      .map((each) => attribute(each, 'value')),
    values: valuesOf(control),
    reason: described
      .split(' ')
      .map((id) => byId.get(id))
      .find((each) => each && attribute(each, 'class') === 'reason')?.text,
  };
}

/** The forms of a page. */
export function formsIn(html: string): PageForm[] {
  const elements = elementsOf(html);
  const named = elements.filter(({ attributes }) => attributes.has('id'));
  const byId = new Map(named.map((element) => [attribute(element, 'id'), element]));
  return elements
    .filter(({ name }) => name === 'form')
    .map((form) => {
      const inside = [...withDescendants(form)];
      const controls = inside.filter(({ name }) => ['input', 'textarea', 'select'].includes(name));
      return {
        id: attribute(form, 'id'),
        is_post: attribute(form, 'method') === 'post',
        action: attribute(form, 'action'),
        does: inside.filter((each) => attribute(each, 'name') === '_do').map((each) => attribute(each, 'value')),
        fields: controls.map((control) => fieldOf(control, inside, byId)),
        summary: inside.find((each) => attribute(each, 'class') === 'refusal')?.text,
      };
    });
}

/** What a form sends if nobody changes it, by the names of its fields. */
export function sentBy({ fields }: PageForm): Record<string, string[]> {
  const sent: Record<string, string[]> = {};
  for (const { name, values } of fields) if (name !== '') sent[name] = [...(sent[name] ?? []), ...values];
  return sent;
}
