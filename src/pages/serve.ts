/** The doors of all pages: finds the page of an address, shows it, and runs its forms. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  browserCookie,
  costlyPagesNeedSignIn,
  countRequest,
  keptForm,
  newBrowser,
  sessionCookie,
  type Visitor,
  visitorOf,
  visitorWithToken,
} from '../access/index.ts';
import { actingAs } from '../foundation/actors.ts';
import { Places } from '../foundation/places.ts';
import { actorOf } from '../http/acting.ts';
import {
  type AnyEndpoint,
  ApiError,
  type Counting,
  type Doorway,
  door,
  type ErrorForm,
  forbidden,
  invalid,
  jsonForm,
  leavingOf,
  Moved,
  messageOf,
  notFound,
  SentFile,
  type Services,
  scopesFor,
  slotsFor,
  unauthorized,
  type Values,
} from '../http/index.ts';
import { readQuery } from '../http/mount.ts';
import { isFromOurPage, originFor } from '../http/origin.ts';
import type { PerformOptions } from '../http/perform.ts';
import { type Calling, callOf, isHidden, operationsOf } from './calling.ts';
import { versionOf } from './forms.ts';
import { type Html, html } from './html.ts';
import { type House, layout, plainHouse, type Section, type Surroundings, secondFactorPath } from './layout.ts';
import { withTimes } from './marks.ts';
import {
  type AnyPage,
  type FileParts,
  filterName,
  type PageCall,
  type PageForm,
  type Place,
  type RefusedForm,
  type Resumed,
  type Seen,
  type View,
  type ViewPage,
} from './page.ts';
import { addressAfterMove, leadTo } from './redirects.ts';
import { pageFinder } from './routes.ts';
import { sendHtml, sendPieces, wantsHtml } from './send.ts';

export interface PagesOptions extends PerformOptions {
  pages: readonly AnyPage[];
  endpoints: readonly AnyEndpoint[];
  assets: Surroundings['assets'];
  /** The sections of a project or group with the pages that the caller may open. */
  sectionsOf(call: PageCall, place: Place): Promise<readonly Section[]>;
  /** What administrators show on the page. @param version the version of rights that counts for the request */
  houseOf(call: PageCall, place: Place | undefined, version: string): Promise<House>;
  /** A new value for the cookie of a session that is a day old, as `Set-Cookie`. */
  renewedCookie(services: Services, visitor: Visitor): Promise<string | undefined>;
  /** Where an address leads that no page shows, if it is another form of one that a page shows. */
  otherForm(call: PageCall): Promise<string | undefined>;
  /** A text as a page will show it. @param path the pattern of the page on which it is written */
  previewOf(call: PageCall, path: string, text: string): Promise<Html>;
  /** The present path of a project or group that has moved. */
  pathOf(services: Services, moved: Moved): Promise<string>;
}

/** The largest form: a text of a million characters, percent-encoded. Its files are part of it. */
const largestForm_bytes = 6 * 1024 * 1024;

/** The maximum share of a process that anonymous visitors, among them crawlers, get for costly pages. */
const shareOfStrangers = 1 / 4;
/** The maximum share of one of their addresses. */
const shareOfAddress = 1 / 4;

const signInPath = '/users/sign_in';
const confirmationPath = '/users/confirm_password';

/** A form as it was sent. */
interface Sent {
  form: string;
  values: Values;
}

/** What was typed. Long texts are bytes, and files cannot be shown again. */
const asTexts = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => ![value].flat().some((each) => each instanceof SentFile))
      .map(([name, value]) => [name, value instanceof Uint8Array ? new TextDecoder().decode(value) : value]),
  );

/** Whether a value that was asked for is refused, or a page too far behind the beginning of a list. */
const isAboutQuery = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 405].includes(error.status) && !(error instanceof Moved);

const titles: Record<number, string> = {
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not possible',
  429: 'Too many requests',
  503: 'Busy',
};
const texts: Record<number, string> = {
  404: 'There is nothing here, or you may not see it.',
  503: 'The server has too much to do at the moment. Try again in a few seconds.',
};

/** The page for a refusal or failure. It is the same for hidden and missing objects. */
function refusalView({ status, ...refusal }: ApiError): View {
  const text =
    texts[status] ??
    (status < 500 ? messageOf({ status, ...refusal } as ApiError) : 'Something went wrong. It has been logged.');
  return { title: [titles[status] ?? 'Something went wrong'], main: html`<p>${text}</p>` };
}

/** Shows pages in their layout. */
class PageServer {
  readonly #options: PagesOptions;
  readonly #operations;
  readonly #find;
  /** How many requests are worked on at once, as the last one of a stranger has found it. */
  #slots = 0;
  readonly #strangers = new Places({
    limits: () => {
      const all = Math.max(1, Math.floor(this.#slots * shareOfStrangers));
      return { all, per_address: Math.max(1, Math.floor(all * shareOfAddress)) };
    },
    ...{ waiting: 64, waiting_per_address: 8, wait_ms: 10_000 },
  });
  /** A refused visitor sees their own menu beside the reason. */
  readonly #visitors = new WeakMap<FastifyRequest, Visitor>();

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#operations = operationsOf(options.endpoints, options);
    this.#find = pageFinder(options.pages);
  }

  /** Whether an address belongs to a page, or its 404 is for a person to read. */
  answers(request: FastifyRequest): boolean {
    const path = request.url.split('?', 1)[0]!;
    return !path.startsWith('/api/') && (wantsHtml(request) || this.#find(path) !== undefined);
  }

  /** The API hands out addresses of files and of what leads to them, so programs with a token read them as browsers with a session do. */
  async identify(services: Services, request: FastifyRequest): Promise<Visitor | undefined> {
    const visitor = await visitorOf(services, request);
    if (visitor || request.method === 'POST') return visitor;
    const found = this.#find(request.url.split('?', 1)[0]!);
    return found && !('view' in found.page) ? visitorWithToken(services, request) : undefined;
  }

  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Visitor | undefined,
    fields: Values,
  ): Promise<FastifyReply> {
    const path = request.url.split('?', 1)[0]!;
    if (caller) this.#visitors.set(request, caller);
    const found = this.#find(path);
    if (!found) return this.#missing(request, reply, caller, path);
    const query = request.query as Values;
    const call = callOf({ request, reply, caller, path, params: found.params, query }, this.#options, this.#operations);
    try {
      if (caller?.session.second_factor.due === 'now' && 'view' in found.page && !found.page.without_second_factor)
        return leadTo(reply, secondFactorPath, 303);
      if (request.method === 'POST') return await this.#post(request, call, found.page, fields);
      if (found.page.signed_in && !caller) throw notFound('Page');
      if (found.page.is_costly) await this.#admit(request, call);
      if ('to' in found.page) {
        const { page } = found;
        return await this.#lead(
          request,
          call,
          await actingAs(actorOf(caller, call.device.address), async () => page.to(call)),
        );
      }
      if ('file' in found.page) return this.#sendFile(reply, await found.page.file(call));
      if (caller?.session.cookie_is_old) await this.#renew(call, caller);
      const { leads } = found.page;
      const elsewhere = leads && (await actingAs(actorOf(caller, call.device.address), () => leads(call)));
      if (elsewhere !== undefined)
        return typeof elsewhere === 'object' && 'main' in elsewhere
          ? await this.send(request, call, elsewhere, {})
          : leadTo(reply, elsewhere, 302);
      return await this.#show(request, call, found.page);
    } catch (error) {
      if (error instanceof Moved && request.method !== 'POST') return this.#redirectMoved(request, call, error);
      if (request.method === 'POST' || !isHidden(error)) throw error;
      const other = await this.#options.otherForm(call);
      if (other) return leadTo(reply, other, 302);
      if (!caller) return this.#missing(request, reply, caller, path);
      throw error;
    }
  }

  /** Where an address leads. What led to it may have been a form, which a page shows filled in. */
  #lead(
    request: FastifyRequest,
    call: Calling,
    to: string | URL | Resumed | View,
  ): Promise<FastifyReply> | FastifyReply {
    if (typeof to === 'string' || to instanceof URL) return leadTo(call.reply, to, 302);
    return 'main' in to ? this.send(request, call, to) : this.#resume(request, call.reply, to);
  }

  /** Links of costly pages lead to thousands of others. */
  async #admit(request: FastifyRequest, { caller, reply, services, rightsVersion }: Calling): Promise<void> {
    reply.header('x-robots-tag', 'noindex, nofollow');
    if (caller) return;
    if (await costlyPagesNeedSignIn(services.db, await rightsVersion())) throw unauthorized();
    this.#slots = slotsFor(request);
    // A waiting request occupies no slot.
    request.slot?.pause();
    const leave = await this.#strangers.takeForClient({}, leavingOf(reply)()).finally(() => request.slot?.resume());
    if (reply.raw.closed) leave();
    else reply.raw.once('close', leave);
  }

  async #renew({ reply, services }: Calling, caller: Visitor): Promise<void> {
    const cookie = await this.#options.renewedCookie(services, caller);
    if (cookie !== undefined) reply.header('set-cookie', cookie);
  }

  /** Anonymous visitors may be able to see it after they sign in. */
  #missing(request: FastifyRequest, reply: FastifyReply, caller: Visitor | undefined, path: string): FastifyReply {
    if (path.startsWith('/api/') || !wantsHtml(request)) return reply.callNotFound() as unknown as FastifyReply;
    if (caller || request.method === 'POST') throw notFound('Page');
    return leadTo(reply, `${signInPath}?to=${encodeURIComponent(request.url)}`, 302);
  }

  async #redirectMoved(
    request: FastifyRequest,
    { reply, params, services }: Calling,
    moved: Moved,
  ): Promise<FastifyReply> {
    const path = await this.#options.pathOf(services, moved);
    return leadTo(reply, addressAfterMove(request.url, params.id!, path), 301);
  }

  /** A file is shown as it is, and can do nothing. */
  #sendFile(reply: FastifyReply, { body, headers = {}, status = 200 }: FileParts): FastifyReply {
    return reply
      .code(status)
      .headers({ ...headers, 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" })
      .send(body);
  }

  async #show(
    request: FastifyRequest,
    asked: Calling,
    page: ViewPage,
    sent?: RefusedForm,
    asStatus?: number,
  ): Promise<FastifyReply> {
    // Together, so that their access rules share statements.
    const [{ data, call, refused }, allowed] = await Promise.all([
      this.#load(asked, page, sent),
      this.#allowedForms(asked, page),
    ]);
    const seen = this.#seen(call, allowed, refused);
    if (refused) call.reply.headers(refused.refusal.headers);
    const view = page.view(data, seen);
    const status = asStatus ?? refused?.refusal.status ?? view.status ?? 200;
    return this.send(request, call, view, { status, seen });
  }

  /** Reads the data of a page. If its query is refused, reads the data without a query, and returns the reason, too. */
  async #load(call: Calling, page: ViewPage, refused: RefusedForm | undefined) {
    try {
      return { data: await page.load(call), call, refused };
    } catch (error) {
      if (!isAboutQuery(error) || Object.keys(call.query).length === 0) throw error;
      const plain = { ...call, query: {} };
      const filters = { name: filterName, values: call.query, refusal: error };
      return { data: await page.load(plain), call: plain, refused: refused ?? filters };
    }
  }

  #seen({ caller, path, query }: PageCall, allowed: ReadonlySet<string>, refused?: RefusedForm): Seen {
    return { caller, path, query, may: (name) => allowed.has(name), refused };
  }

  async #allowedForms(call: Calling, { forms = {} }: ViewPage): Promise<Set<string>> {
    const names = Object.entries(forms).map(async ([name, form]) => ((await this.#mayPost(call, form)) ? [name] : []));
    return new Set((await Promise.all(names)).flat());
  }

  /** Forms about one of several things, whose parameters are among their fields, are allowed where the page shows the thing. */
  async #mayPost(call: Calling, form: PageForm): Promise<boolean> {
    if (!('runs' in form)) return form.anonymous === true || call.caller !== undefined;
    if (!call.caller) return false;
    const given = { ...call.params, ...form.parameters };
    const isAboutPage = this.#operations
      .endpointOf(form.runs)
      .path.split('/')
      .every((part) => !part.startsWith(':') || part.slice(1) in given);
    return isAboutPage ? call.may(form.runs, form.parameters) : true;
  }

  async #post(request: FastifyRequest, call: Calling, page: AnyPage, fields: Values): Promise<FastifyReply> {
    if (!isFromOurPage(request, originFor(request, this.#options.services.url)))
      throw forbidden('The form is not on a page of this server');
    const { _do, _preview, ...values } = fields;
    const [previewed, field = ''] = typeof _preview === 'string' ? _preview.split(' ', 2) : [];
    const forms = ('view' in page && page.forms) || {};
    const name = previewed ?? _do ?? Object.keys(forms).find((each) => forms[each]!.is_usual);
    const form = typeof name === 'string' && Object.hasOwn(forms, name) ? forms[name] : undefined;
    if (!form || !('view' in page)) throw notFound('Form');
    const sent = { form: name as string, values: asTexts(values) };
    if (!call.caller && !('act' in form && form.anonymous)) return this.#askFirst(request, call, signInPath, sent);
    if (form.is_sensitive && !call.caller?.session.is_confirmed)
      return this.#askFirst(request, call, confirmationPath, sent);
    if (previewed !== undefined) return this.#preview(request, call, page, sent, field);
    try {
      return await this.#run(request, call, form, values);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500 || error instanceof Moved) throw error;
      // There was nothing to change.
      if (error.status === 304) return leadTo(call.reply, call.path, 303);
      return this.#show(request, call, page, { name: sent.form, values: sent.values, refusal: error });
    }
  }

  /** Shows a text as it will look, in the form in which it is written. */
  async #preview(request: FastifyRequest, call: Calling, page: ViewPage, { form, values }: Sent, field: string) {
    const { [field]: text } = values;
    const preview = await this.#options.previewOf(call, page.path, typeof text === 'string' ? text : '');
    return this.#show(request, call, page, {
      name: form,
      values,
      refusal: new ApiError(200, { message: '' }),
      preview,
    });
  }

  async #run(request: FastifyRequest, call: Calling, form: PageForm, values: Values): Promise<FastifyReply> {
    const { path, reply } = call;
    const goOn = (to: string | URL) => leadTo(reply, to, 303);
    if ('act' in form) {
      refuseUnstorable(values);
      const actor = actorOf(call.caller, call.device.address);
      const next = await actingAs(actor, () => form.act(call, values));
      if (typeof next === 'string' || next instanceof URL) return goOn(next);
      return 'main' in next ? this.send(request, call, next, { is_secret: true }) : this.#resume(request, reply, next);
    }
    const { _key, _edited, typed, ...given } = values;
    const confirmation = await form.typed?.(call);
    if (confirmation !== undefined && typed !== confirmation && (await call.may(form.runs)))
      throw invalid({ typed: [`needs ${confirmation}`] });
    // Without the right to run it, the refusal of its endpoint counts, and not one of its fields.
    const isAllowed = (form.edits ?? form.takes) !== undefined && (await this.#mayPost(call, form));
    if (isAllowed && form.edits && _edited !== versionOf(await form.edits(call)))
      throw new ApiError(409, { message: changedText });
    const taken = isAllowed && form.takes ? await form.takes(call, given, _edited) : withoutBlanks(given);
    const perform = (more: Values) =>
      call.perform(form.runs, { ...taken, ...more, ...form.parameters, ...call.params });
    const result = form.each ? await performEach(form.each, taken, perform) : await perform({});
    if (form.shows) return this.send(request, call, form.shows(result as never, call), { is_secret: true });
    return goOn(form.next?.(result as never, call) ?? path);
  }

  /** Asks for the password before a form is taken. What was typed goes along, except for secrets, and counts in this browser only. */
  #askFirst(request: FastifyRequest, call: Calling, path: string, { form, values }: Sent): Promise<FastifyReply> {
    const { page } = this.#find(path)!;
    const { secrets, url } = call.services;
    const browser = call.device.browser ?? newBrowser();
    if (!call.device.browser) call.reply.header('set-cookie', browserCookie(url, browser));
    const device = { ...call.device, browser };
    const kept = Object.fromEntries(Object.entries(values).filter(([field]) => !/password|token/i.test(field)));
    const query = { to: request.url, kept: keptForm(secrets, browser, { to: request.url, form, values: kept }) };
    return this.#show(request, { ...call, device, query, path }, page as ViewPage, undefined, 401);
  }

  /** Shows the form that had to wait for the password, as it was filled in. */
  #resume(request: FastifyRequest, reply: FastifyReply, resumed: Resumed): Promise<FastifyReply> {
    const { to, visitor, form, values, text } = resumed;
    const [path = '', query = ''] = to.split('?', 2);
    const found = this.#find(path);
    if (!found || !('view' in found.page)) throw notFound('Page');
    const call = callOf(
      { request, reply, caller: visitor, path, params: found.params, query: readQuery(query) },
      this.#options,
      this.#operations,
    );
    return this.#show(request, call, found.page, { name: form, values, refusal: new ApiError(200, { message: text }) });
  }

  /** Sends a view in the layout. */
  async send(
    request: FastifyRequest,
    call: Calling,
    view: View,
    {
      status = view.status ?? 200,
      is_secret,
      seen = this.#seen(call, new Set()),
    }: { status?: number; is_secret?: true; seen?: Seen } = {},
  ): Promise<FastifyReply> {
    const { assets, services } = this.#options;
    // The page for a database outage must not query the database.
    const house = status < 500 ? await this.#options.houseOf(call, view.place, await call.rightsVersion()) : plainHouse;
    const sections = view.place ? await this.#options.sectionsOf(call, view.place) : [];
    const { before, after } = layout(view, seen, { assets, sections, house });
    const asPreferred = (piece: Html) => (call.caller ? withTimes(piece, call.caller.session.preferences) : piece);
    const sending = {
      status,
      origin: originFor(request, services.url),
      is_secret: is_secret ?? view.is_secret,
      leads_to: view.leads_to,
    };
    if (!view.is_public && !call.reply.hasHeader('x-robots-tag')) call.reply.header('x-robots-tag', 'noindex');
    if (!('text' in view.main))
      return sendPieces(
        request,
        call.reply,
        around(before, mapped(view.main, asPreferred), after),
        () => cutOff,
        sending,
      );
    return sendHtml(request, call.reply, html`${before}${asPreferred(view.main)}${after}`, sending);
  }

  errors: ErrorForm = {
    write: (refusal, request, reply) => {
      if (!wantsHtml(request)) return jsonForm.write(refusal, request, reply);
      const call = callOf(
        { request, reply, caller: this.#visitors.get(request), path: '/', params: {}, query: {} },
        this.#options,
        this.#operations,
      );
      void this.send(request, call, refusalView(refusal), { status: refusal.status });
      return reply;
    },
  };
}

/** The maximum number of items that a form changes at once. */
const maximumAtOnce = 100;

/**
 * Runs an operation for each value of a list, and goes on after one that is refused.
 * @throws ApiError the first refusal, after all others were run; 400 if nothing is chosen
 */
async function performEach(
  { list, as }: { list: string; as: string },
  { [list]: given, ...fields }: Values,
  perform: (more: Values) => Promise<unknown>,
): Promise<undefined> {
  const chosen = namesIn(given).slice(0, maximumAtOnce);
  if (chosen.length === 0) throw new ApiError(400, { message: 'Nothing is chosen' });
  let refusal: unknown;
  for (const value of chosen)
    await perform({ ...fields, [as]: value }).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      // What is already so has not to be changed.
      if (error.status !== 304) refusal ??= error;
    });
  if (refusal !== undefined) throw refusal;
}

const changedText =
  'Somebody has changed this since you began. Your changes are below; send the form again to replace what is there now.';

const cutOff = html`<p class="refusal" role="alert">The rest could not be read. Reload the page to try again.</p>`;

async function* mapped(pieces: AsyncIterable<Html>, change: (piece: Html) => Html): AsyncGenerator<Html> {
  for await (const piece of pieces) yield change(piece);
}

async function* around(before: Html, main: AsyncIterable<Html>, after: Html): AsyncGenerator<Html> {
  yield before;
  yield* main;
  yield after;
}

/** The database cannot store NUL; what runs an operation has it refused there. */
function refuseUnstorable(values: Values): void {
  const isWrong = (value: unknown) => typeof value === 'string' && value.includes('\0');
  const wrong = Object.entries(values).filter(([, value]) => [value].flat().some(isWrong));
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong.map(([name]) => [name, ['is invalid']])));
}

const namesIn = (value: unknown): string[] => [value].flat().filter((name) => typeof name === 'string');

/**
 * Fields that were left empty are not sent, unless the form says that they are to be cleared: `clear[]` and `null[]` name them. A list of which nothing is
 * chosen is not sent by browsers.
 */
function withoutBlanks({ clear, null: nulled, ...values }: Values): Values {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  const empty = [...namesIn(clear).map((name) => [name, '']), ...namesIn(nulled).map((name) => [name, null])];
  return Object.fromEntries([...empty, ...given]);
}

/** The doors of all pages. Other addresses and methods are answered as before. */
export function pageDoorway(options: PagesOptions): Doorway {
  const server = new PageServer(options);
  const who = {
    carries: (request: FastifyRequest) => sessionCookie(request, options.services.url) !== undefined,
    identify: (services: Services, request: FastifyRequest) => server.identify(services, request),
    count: (services: Services, counting: Counting) => countRequest(services, {}, counting),
    scopes: ({ method }: FastifyRequest) => (method === 'POST' ? undefined : scopesFor({ method: 'GET' })),
  };
  return {
    cost: 'stream',
    doors: (['GET', 'POST'] as const).flatMap((method) =>
      ['/', '/*'].map((url) =>
        door<Visitor, { Querystring: Values }>({
          method,
          url,
          who,
          handle: ({ request, reply, caller, fields }) => server.answer(request, reply, caller, fields),
        }),
      ),
    ),
    errors: () => server.errors,
    // Decided before the request is read if no page answers it.
    prepare: (app) => {
      app.addHook('onRequest', (request, reply, done) => {
        if (server.answers(request)) done();
        else reply.callNotFound();
      });
    },
    bodies: { at_most_bytes: largestForm_bytes, keeps_files: true },
  };
}
