import { Invalid, type Misfit } from '../errors.js';
import type * as api from '../wire/api.js';
import type { FromSchema, Schema } from './schema.js';

/** A place where answers may go, where more than its request has to be said. */
export interface Route {
  /** The schema of the request alone. Each object in it is closed; `closed` makes such. */
  readonly schema: Schema;
  /** What people choose when they reroute. By default the first kind whose answers go there, else the field in capitals. */
  readonly name?: string;
  /** The name of the request's type: `RefundRequest` for the field `refund` by default. */
  readonly request?: string;
  /** What a model reads about it. By default the description of the schema. */
  readonly description?: string;
}

/** The routes of a workflow, by the field in which a model gives the request. */
export type Routes = Readonly<Record<string, Schema | Route>>;

/** What a workflow consists of. */
export interface Definition<K extends string, R extends Routes> {
  /**
   * The field of the route that the answers of each kind take. With `null` they only go back to the agent. The first kind is that
   * of the agent `root`.
   */
  readonly kinds: Readonly<Record<K, (keyof R & string) | null>>;
  readonly routes?: R;
}

/**
 * The kinds of agents of an orchestrator, and where the answers to their questions may go.
 *
 * ```ts
 * const desk = new Workflow('support-desk', {
 *   kinds: { REFUNDS: 'refund', LEGAL: 'legal' },
 *   routes: {
 *     refund: closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }),
 *     legal: closed({ matter: { type: 'string', maxLength: 2_000 } }),
 *   },
 * });
 * ```
 */
export class Workflow<const K extends string = string, const R extends Routes = Routes> {
  /** The kind of the agent `root`. */
  readonly rootKind: K;
  private readonly kinds: readonly (readonly [name: string, field: string | null])[];
  private readonly routes: ReadonlyMap<string, Route>;

  constructor(
    readonly name: string,
    definition: Definition<K, R>,
  ) {
    this.kinds = Object.entries<string | null>(definition.kinds);
    this.routes = new Map(Object.entries(definition.routes ?? {}).map(([field, it]) => [field, 'schema' in it ? (it as Route) : { schema: it }]));
    this.check();
    this.rootKind = this.kinds[0]?.[0] as K;
  }

  /** The body that registers it. */
  get registration(): { readonly kinds: readonly api.KindBody[]; readonly routes: readonly api.RouteBody[] } {
    return {
      kinds: this.kinds.map(([name, field]): api.KindBody => ({ name, origin: field === null ? name : this.routeName(field) })),
      routes: [...this.routes].map(([field, { request, description, schema }]): api.RouteBody => {
        const words = description ?? schema['description'];
        return {
          name: this.routeName(field),
          field,
          request: request ?? `${pascal(field)}Request`,
          ...(typeof words === 'string' && { description: words }),
          schema,
        };
      }),
    };
  }

  private routeName(field: string): string {
    const origin = this.kinds.find(([, it]) => it === field);
    return this.routes.get(field)?.name ?? origin?.[0] ?? field.toUpperCase();
  }

  /** What types cannot say, and what JavaScript does not check. */
  private check(): void {
    const names = [...this.routes.keys()].map((field) => this.routeName(field));
    const errors: Misfit[] = names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => ({ pointer: '/routes', message: `two routes are called ${name}` }));
    if (this.kinds.length === 0) errors.push({ pointer: '/kinds', message: 'a workflow has at least one kind' });
    for (const [kind, field] of this.kinds) {
      const pointer = `/kinds/${kind}`;
      if (field === null && names.includes(kind)) errors.push({ pointer, message: 'a route has its name: let its answers go there' });
      if (field !== null && !this.routes.has(field)) errors.push({ pointer, message: `there is no route ${field}` });
    }
    const detail = `the workflow ${this.name} contradicts itself`;
    if (errors.length > 0) throw new Invalid({ code: 'invalid-workflow', detail, errors });
  }
}

function pascal(field: string): string {
  return field.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The names of the kinds of a workflow. */
export type KindOf<W extends Workflow> = W extends Workflow<infer K, Routes> ? K : never;

/** The routes of a workflow, by field. */
export type RoutesOf<W extends Workflow> = W extends Workflow<string, infer R> ? R : never;

/** The type of the request of a route. */
export type RequestOf<S> = S extends { readonly schema: infer X } ? FromSchema<X> : FromSchema<S>;
