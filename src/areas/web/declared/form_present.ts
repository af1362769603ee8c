/** Forms of declared pages: their fields with values and options, and parts that are a form. */
import type { TSchema } from 'typebox';
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  confirmation,
  controlOf,
  type Field,
  form,
  hidden,
  html,
  type Operation,
  type Option,
  type PageCall,
  type PageForm,
  type Seen,
} from '../../../pages/index.ts';
import { type DeclaredForm, type Part, part } from './definition.ts';

interface Json {
  properties?: Readonly<Record<string, TSchema>>;
  items?: TSchema;
}

/** The schema of a parameter, or of a member of one: `levels[0][access_level]`. */
function schemaAt(parameters: Readonly<Record<string, TSchema>>, name: string): TSchema | undefined {
  const [first = '', ...steps] = name.split(/[[\]]+/).filter((step) => step !== '');
  let schema = parameters[first];
  for (const step of steps) {
    const { items, properties } = (schema ?? {}) as Json;
    schema = /^\d+$/.test(step) ? items : properties?.[step];
  }
  return schema;
}

/**
 * The fields of a form.
 * @param values the reply that is edited; undefined for something new
 */
export async function fieldsFor(
  call: PageCall,
  { runs, fields, typed, starts }: Pick<DeclaredForm, 'runs' | 'fields' | 'typed' | 'starts'>,
  values?: Values,
): Promise<Field[]> {
  const parameters = call.parameters(runs);
  const started = values ? undefined : await starts?.(call);
  const shown = Object.entries(fields).map(async ([name, { choices, from, isFor, ...over }]) => {
    if (values && isFor && !isFor(values)) return undefined;
    const options = choices && (await choices(call));
    const parameter = schemaAt(parameters, name);
    if (parameter === undefined) throw new Error(`${runs} has no parameter ${name}.`);
    const own = values && from ? { ...values, [name]: from(values) } : values;
    const more = {
      ...over,
      ...(started?.[name] !== undefined && { value: started[name] as Field['value'] }),
      ...(options && { options, kind: over.kind ?? ('select' as const) }),
    };
    return controlOf(name, parameter, more, { values: own, plan: call.caller?.plan });
  });
  const text = await typed?.(call);
  return [
    ...(await Promise.all(shown)).filter((field) => field !== undefined),
    ...(text === undefined ? [] : [confirmation(text)]),
  ];
}

/** A declared form as a form of the page. */
export const pageFormOf = ({
  runs,
  parameters,
  is_sensitive,
  shows,
  typed,
  next,
}: Omit<DeclaredForm, 'fields' | 'button' | 'starts'>): PageForm => ({
  runs,
  ...(parameters && { parameters }),
  ...(is_sensitive && { is_sensitive }),
  ...(shows && { shows }),
  ...(typed && { typed }),
  ...(next && { next }),
});

/** A form with its heading; nothing if the caller may not send it. */
export function formView(
  seen: Seen,
  name: string,
  { heading, intro, button, look, tries }: Pick<DeclaredForm, 'heading' | 'intro' | 'button' | 'look' | 'tries'>,
  fields: readonly Field[],
  edited?: readonly unknown[],
): Content {
  const shown = form(seen, name, {
    fields,
    button,
    ...(look && { look }),
    ...(tries && { tries }),
    ...(edited && { edited }),
  });
  if (!shown) return undefined;
  return html`${heading && html`<h2>${heading}</h2>`}${intro && html`<p class="soft">${intro}</p>`}${shown}`;
}

interface FormPart extends DeclaredForm {
  /** Unique on the page. */
  name: string;
  /** Reads what is edited. Without it, the form starts empty. */
  reads?(call: PageCall): Promise<Values>;
  /** Whether it is shown for what was read. */
  isShown?(reply: Values): boolean;
  /** Further values that it sends, such as the parameter of a path that the page calls otherwise. */
  given?(call: PageCall): Values;
}

/** The values that a form edits. */
const editedIn = ({ fields }: DeclaredForm, reply: Values): unknown[] =>
  Object.entries(fields).map(([name, { from }]) => (from ? from(reply) : reply[name]));

/** A form over fields of one noun, or one that does something with it. Who edits what someone else has changed since is told so. */
export function formPart(name: string, declared: DeclaredForm & Pick<FormPart, 'reads' | 'isShown' | 'given'>) {
  const { reads, isShown, done = 'Saved.' } = declared;
  const edits = reads && Object.keys(declared.fields).length > 0;
  return part({
    forms: {
      [name]: {
        ...pageFormOf(declared),
        ...(edits && { edits: async (call: PageCall) => editedIn(declared, await reads(call)) }),
      } as PageForm,
    },
    done: { [name]: done },
    async load(call) {
      const reply = await reads?.(call);
      if (reply && isShown && !isShown(reply)) return undefined;
      const given = Object.entries(declared.given?.(call) ?? {}).map(([own, value]) => hidden(own, String(value)));
      return { fields: [...given, ...(await fieldsFor(call, declared, edits ? reply : undefined))], reply };
    },
    view: ({ fields, reply }, seen) =>
      formView(seen, name, declared, fields, edits && reply ? editedIn(declared, reply) : undefined),
  }) as Part<{ fields: Field[]; reply: Values | undefined }>;
}

/** Reads one object with an operation. */
export const reading =
  (operation: Parameters<PageCall['described']>[0], parameters?: Values) =>
  async ({ described }: PageCall): Promise<Values> =>
    (await described(operation, parameters)).reply as Values;

/** The most options that a selection offers of what exists. */
const offered = 100;

interface Choices {
  /** The members that are sent and shown. */
  value?: string;
  label: string;
  parameters?: Values;
  /** Options before them. */
  first?: readonly Option[];
}

/** The options of a selection: what an operation lists, for those who may list it. */
export const choicesOf =
  (operation: Operation, { value = 'id', label, parameters, first = [] }: Choices) =>
  async (call: PageCall): Promise<readonly Option[]> => {
    const found = await call.perhaps(call.described(operation, { per_page: offered, ...parameters }));
    const items = (found ? ((found.reply as { items?: Values[] }).items ?? found.reply) : []) as Values[];
    return [...first, ...items.map((item) => ({ value: item[value] as string | number, label: String(item[label]) }))];
  };
