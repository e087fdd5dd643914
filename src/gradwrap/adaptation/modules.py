"""The adapted modules and their numbers of users: the first installs, the last restores.

All users share the modules' contents; so a stand-in depends only on the context and its arguments,
never on the user that installed it. What one thread has adapted, a plan of another thread that was
made meanwhile does not change again: it is restored when that thread needs it no more.
"""

from __future__ import annotations

import collections
import gc
import importlib
import itertools
import operator
import sys
from _thread import get_ident
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from gradwrap.adaptation import importing
from gradwrap.adaptation.kept import Kept, forget, written_in
from gradwrap.adaptation.later import Later
from gradwrap.adaptation.later import lock as _lock
from gradwrap.adaptation.places import (
    ABSENT,
    Change,
    Given,
    Namespace,
    Place,
    changes,
    rewritings,
)
from gradwrap.core.observing.callers import MARK, is_never_adapted
from gradwrap.core.observing.code import library_named
from gradwrap.core.values.dynamic import (
    DICT,
    LIST,
    TUPLE,
    attribute_or_none,
    attributes_of,
    class_of,
    type_of,
)
from gradwrap.errors import AdaptationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gradwrap.adaptation.rewriting import Rewritten

MANY = 150
"""The number of modules beyond which a package is adapted one module at a time."""


class _Adapted:
    """A namespace that is adapted at present."""

    def __init__(self, namespace: Namespace, plan: list[Change], since: list[int]) -> None:
        self.namespace = namespace
        self.plan = plan
        self.since = since
        """The number of the `hold` that has adapted it."""
        self.users = 1
        self.rewritten: Rewritten = 0
        self.rewritten_at: int = 0
        self.first: list[Change] = plan
        """The plan before anything was rewritten."""
        self.kept: list[Kept] = []

    def take_back(self) -> bool:
        """Put back what was rewritten; tell if all of it was in place."""
        if not self.rewritten:
            return True
        for place, old, new in reversed(self.plan[len(self.first) :]):
            if place.read() is not new:
                return False
            place.write(old)
        self.plan, self.rewritten = self.first, 0
        return True

    def restore(self) -> None:
        """Restore the old values, newest first, where our stand-ins are still in place."""
        for place, old, new in reversed(self.plan):
            holder, name, is_item = place
            if is_item and type_of(holder) is DICT and holder.get(name, ABSENT) is new:
                if old is ABSENT:
                    del holder[name]
                else:
                    holder[name] = old
                continue
            found = place.read()
            if found is new:
                place.write(old)
            elif found is not old and old is not ABSENT:
                _exchange_kept(new, old)
        if not importing.receivers:
            return
        _restore_receivers({id(new): old for _, old, new in self.plan if old is not ABSENT})


def _restore_receivers(held: dict[int, Any]) -> None:
    """Put the old values where code has imported stand-ins into other namespaces."""
    for receiver in importing.receivers.values():
        for name, value in list(receiver.items()):
            if id(value) in held and id(receiver) not in _adapted:
                receiver[name] = held[id(value)]


def _exchange_kept(new: Any, old: Any) -> None:
    """Exchange a stand-in that another tool has saved and will restore later.

    `mock.patch` and pytest's `monkeypatch` keep what they find: an attribute of an object, or a
    tuple in a list.
    """
    for holder in gc.get_referrers(new):
        if type_of(holder) is DICT or type_of(holder) in (Change, _Adapted):
            continue  # an adapted namespace, or our own
        values = attributes_of(holder)
        for name in [name for name, value in values.items() if value is new]:
            if MARK not in values and not issubclass(type_of(holder), ModuleType):
                values[name] = old
        if type_of(holder) is TUPLE:
            kept = tuple(old if value is new else value for value in holder)
            for outer in gc.get_referrers(holder):
                if type_of(outer) is LIST:
                    outer[:] = [kept if value is holder else value for value in outer]


_adapted: dict[int, _Adapted] = {}
"""From the identity of a namespace."""
_plans: dict[int, tuple[Namespace, int, list[Change]]] = {}
"""The findings in the namespaces of modules, and how many names they had then."""
_rewritings: dict[tuple[int, Rewritten], tuple[list[Change], list[Change]]] = {}
"""What to rewrite in a module, beside the findings that it was found with."""


_holds: dict[int, list[int]] = {}
"""By thread: the numbers of the holds that are not released."""
_numbers = itertools.count(1)


def now() -> int:
    """Return a number that grows with time."""
    return next(_numbers)


def hold(namespaces: Iterable[Namespace]) -> list[Namespace]:
    """Adapt all namespaces for one more user, or none if one fails; return them for `release`."""
    held: list[Namespace] = []
    with _lock:
        _enter()
        try:
            hold_more(held, namespaces)
        except BaseException:
            release(held)
            raise
    return held


def hold_more(held: list[Namespace], namespaces: Iterable[Namespace]) -> None:
    """Adapt more namespaces for the user of `held`."""
    with _lock:
        for namespace in namespaces:
            _hold(namespace)
            held.append(namespace)


def _enter() -> int:
    """Begin a hold of this thread; return its number."""
    number = now()
    _holds.setdefault(get_ident(), []).append(number)
    return number


def _leave() -> None:
    """End the last hold of this thread, or of another one if a user gives back what it took."""
    own = get_ident()
    thread = own if own in _holds else next(iter(_holds))
    _holds[thread].pop()
    if not _holds[thread]:
        del _holds[thread]


def _is_needed(adapted: _Adapted, own: int | None) -> bool:
    """Tell if another thread has begun a hold since, whose plan lacks what was changed here."""
    (since,) = adapted.since
    return any(numbers[-1] > since for one, numbers in _holds.items() if one != own)


def _hold(namespace: Namespace) -> None:
    known = _adapted.get(id(namespace))
    if known is not None:
        known.users += 1
        return
    made = _Adapted(namespace, [], [_holds[get_ident()][-1]])
    made.kept = list(map(Kept, written_in(namespace, module_of)))
    if not _adapted:
        importing.install()
    _adapted[id(namespace)] = made
    try:
        for change in _plan(namespace):
            place, old, new = change
            holder, name, is_item = place
            if is_item and type_of(holder) is DICT:  # most places; calls would take longer
                if holder.get(name, ABSENT) is not old:
                    continue
                holder[name] = new
            elif place.read() is old:
                place.write(new)
            else:
                continue
            made.plan.append(change)
    except BaseException:
        _restore(made)
        raise


def _plan(namespace: Namespace) -> list[Change]:
    """Find the changes to a namespace, or reuse the plan of its last adaptation."""
    if isinstance(namespace, Given):
        namespace.plan = namespace.plan or changes(namespace)
        return namespace.plan
    known = _plans.get(id(namespace))
    if known is not None and known[0] is namespace and known[1] == len(namespace):
        return known[2]
    found = changes(namespace)
    if module_of(namespace) is not None and not _is_changed(namespace):  # nor generated code
        _plans[id(namespace)] = (namespace, len(namespace), found)
    return found


def _is_changed(namespace: Namespace) -> bool:
    """Tell if a given function of a module is adapted: what was changed there is not found."""
    given = (one for one in _adapted.values() if isinstance(one.namespace, Given))
    holders = (change.place.holder for one in given for change in one.plan)
    functions = (one.function if type_of(one) is Later else one for one in holders)
    return any(attribute_or_none(one, "__globals__") is namespace for one in functions)


def _restore(adapted: _Adapted) -> None:
    forget(adapted.kept)
    adapted.restore()
    del _adapted[id(adapted.namespace)]
    if not _adapted:
        importing.receivers.clear()
        importing.restore()


def release(namespaces: Iterable[Namespace]) -> None:
    """End the adaptation of namespaces for one user."""
    with _lock:
        _leave()
        for namespace in namespaces:
            adapted = _adapted[id(namespace)]
            adapted.users -= 1
            if not (adapted.users or _is_needed(adapted, get_ident())):
                _restore(adapted)
        for adapted in [one for one in _adapted.values() if not one.users]:
            if not _is_needed(adapted, None):
                _restore(adapted)


class Group:
    """Namespaces that are adapted together, for each call of one function.

    While nobody else has adapted anything, their names are compared and exchanged by few calls.
    """

    def __init__(self, namespaces: list[Namespace]) -> None:
        namespaces = list({id(one): one for one in namespaces}.values())  # modules have aliases
        plans = list(map(_plan, namespaces))
        found: dict[tuple[int, Any], Change] = {}  # a function may be in two modules
        for change in itertools.chain.from_iterable(plans):
            if change.place.read() is change.old:
                found.setdefault(_key(change.place), change)
        made = set(map(id, found.values()))
        self._plans = [[c for c in plan if id(c) in made] for plan in plans]
        self._changes = list(found.values())
        self._namespaces = namespaces
        self._sizes = list(map(len, namespaces))
        self._adapted: dict[int, _Adapted] = {}
        self._written = [one for names in namespaces for one in written_in(names, module_of)]
        self._kept: list[Kept] = []
        self._exchanges = _Exchanges(self._changes)
        self._since = [0]
        self.is_outdated: bool = False
        """Whether a namespace has other names than when the group was made."""

    def hold(self) -> list[Namespace]:
        """Do what `hold` does."""
        with _lock:
            if _adapted or not self._exchanges.are(OLD):
                return hold(self._namespaces)
            if list(map(len, self._namespaces)) != self._sizes:
                self.is_outdated = True
                return hold(self._namespaces)
            if not self._adapted:
                pairs = zip(self._namespaces, self._plans, strict=True)
                self._adapted = {id(n): _Adapted(n, plan, self._since) for n, plan in pairs}
            self._since[0] = _enter()
            importing.install()
            _adapted.update(self._adapted)
            self._kept = list(map(Kept, self._written))
            try:
                self._exchanges.write(NEW)
            except BaseException:
                self._adapted = {}
                release(self._namespaces)
                raise
        return [*self._namespaces]

    def _take_back(self) -> bool:
        """Put back what was rewritten; tell if all of it was in place."""
        return all(one.take_back() for one in self._adapted.values() if one.rewritten)

    def release(self, held: list[Namespace]) -> None:
        """End the adaptation of `held`: the group, and namespaces that were found meanwhile."""
        with _lock:
            forget(self._kept)
            if (
                _adapted != self._adapted
                or len(held) > len(self._adapted)
                or sum(map(_users, self._adapted.values())) > len(self._adapted)
                or not self._take_back()
                or not self._exchanges.are(NEW)
            ):
                self._adapted = {}  # they are restored one by one
                self.is_outdated = True  # functions may have got their new code
                release(held)
                return
            _leave()
            self._exchanges.write(OLD)
            _adapted.clear()
            if importing.receivers:
                changed = filter(lambda change: change.old is not ABSENT, self._changes)
                _restore_receivers({id(new): old for _, old, new in changed})
                importing.receivers.clear()
            importing.restore()


OLD: Literal[0] = 0
NEW: Literal[1] = 1
_contains = operator.contains
_users = operator.attrgetter("users")


class _Exchanges:
    """Changes that are compared and made together: those of one dictionary by one call.

    Pairs of attributes have what belongs to the old objects and to the new ones.
    """

    def __init__(self, changes: list[Change]) -> None:
        by_holder: dict[int, list[Change]] = {}
        self._others: list[Change] = []
        attributes: list[Change] = []
        for change in changes:
            (holder, _, is_item), old, _ = change
            if is_item and isinstance(holder, DICT):
                by_holder.setdefault(id(holder), []).append(change)
            elif is_item or old is ABSENT or isinstance(holder, type):
                self._others.append(change)
            elif not (type_of(holder) is Later and holder.is_as_it_was):
                attributes.append(change)
        self._dicts: tuple[list[Any], list[Any]] = [], []
        self._get: tuple[list[Any], list[Any]] = [], []
        self._values: tuple[list[Any], list[Any]] = [], []
        self._update: tuple[list[Any], list[Any]] = [], []
        self._lacking: list[Any] = []
        self._remove: tuple[list[Any], list[Any]] = [], []
        for found in by_holder.values():
            holder = found[0].place.holder
            known = [(c.place.name, c.old) for c in found if c.old is not ABSENT]
            made = [(c.place.name, c.new) for c in found]
            for which, pairs in (OLD, known), (NEW, made):
                self._update[which].append((holder.update, dict(pairs)))
                if pairs:
                    names, values = zip(*pairs, pairs[0], strict=True)  # of two items at least
                    self._dicts[which].append(holder)
                    self._get[which].append(operator.itemgetter(*names))  # which returns a tuple
                    self._values[which].append(values)
            added = [c.place.name for c in found if c.old is ABSENT]
            self._lacking.extend(itertools.repeat(holder, len(added)))
            self._remove[0].extend(itertools.repeat(holder.__delitem__, len(added)))
            self._remove[1].extend(added)
        self._holders = [_owner(c.place.holder) for c in attributes]
        self._names = [_key(c.place)[1] for c in attributes]
        self._attributes = [c.old for c in attributes], list(map(_present, attributes))

    def are(self, which: Literal[0, 1]) -> bool:
        """Tell if all places have the old or the new objects."""
        try:
            found = map(_call, self._get[which], self._dicts[which])
            attributes = map(getattr, self._holders, self._names)
            return (
                all(map(operator.eq, found, self._values[which]))
                and all(map(operator.is_, attributes, self._attributes[which]))
                and (which == NEW or not any(map(_contains, self._lacking, self._remove[1])))
                and all(change.place.read() is change[1 + which] for change in self._others)
            )
        except Exception:  # noqa: BLE001  a name is gone, or its new value cannot be compared
            return False

    def write(self, which: Literal[0, 1]) -> None:
        """Write the old or the new objects to all places."""
        for update, values in self._update[which]:
            update(values)
        _run(map(setattr, self._holders, self._names, self._attributes[which]))
        for change in self._others:
            change.place.write(change[1 + which])
        if which == OLD:
            _run(map(_call, *self._remove))


def _key(place: Place) -> tuple[int, Any]:
    """Return what is the same for two places of one value."""
    is_code = type_of(place.holder) is Later
    return id(_owner(place.holder)), "__code__" if is_code else place.name


def _owner(holder: Any) -> Any:
    """Return the function whose code is written later, and other holders as they are."""
    return holder.function if type_of(holder) is Later else holder


def _present(change: Change) -> Any:
    """Return what is in a place after a change: new code may have replaced its stub."""
    holder = change.place.holder
    return holder.current(change.new) if type_of(holder) is Later else change.new


def grouped(namespaces: list[Namespace]) -> Group | None:
    """Return namespaces as a group, or None while something is adapted."""
    with _lock:
        return None if _adapted else Group(namespaces)


_call: Any = operator.call  # its type in stubs takes no further arguments
_run = collections.deque[Any](maxlen=0).extend
"""Run an iterator to its end."""


def rewrite(namespace: Namespace, what: Rewritten, started: int = 0) -> bool:
    """Rewrite the code of an adapted namespace.

    Returns
    -------
    Whether there was something to rewrite, or another thread has rewritten it since `started`,
    which `now` has given.
    """
    with _lock:
        adapted = _adapted.get(id(namespace))
        if adapted is not None and adapted.rewritten >= what:
            return 0 < started < adapted.rewritten_at
        if adapted is None or not adapted.take_back():
            return False
        adapted.rewritten, adapted.first, adapted.rewritten_at = what, adapted.plan, now()
        found = list(filter(None, map(_current, _rewriting(adapted, what))))
        for change in found:
            change.place.write(change.new)
            adapted.plan = [*adapted.plan, change]  # the list may be the namespace's findings
    return bool(found)


def _current(change: Change) -> Change | None:
    """Return a change from the code that a function has now, if nobody else has exchanged it.

    A function that needed no new code has got back that of before.
    """
    now, later = change.place.read(), change.place.holder
    is_back = type_of(later) is Later and later.is_as_it_was and now is later.old
    return change._replace(old=now) if now is change.old or is_back else None


def _rewriting(adapted: _Adapted, what: Rewritten) -> list[Change]:
    """Find what to rewrite in a namespace, once: its source is compiled again for this."""
    namespace = adapted.namespace
    if isinstance(namespace, Given):
        if what not in namespace.rewritings:
            namespace.rewritings[what] = rewritings(namespace, adapted.plan, what)
        return namespace.rewritings[what]
    key = id(namespace), what
    known = _rewritings.get(key)
    plan = _plans.get(id(namespace))
    if known is not None and plan is not None and known[0] is plan[2]:
        return known[1]
    found = rewritings(namespace, adapted.plan, what)
    if plan is not None:
        _rewritings[key] = plan[2], found
    return found


def is_adapted(namespace: Namespace) -> bool:
    """Tell if a namespace is adapted at present."""
    return id(namespace) in _adapted


def adapted_modules() -> list[str]:
    """Return the names of the modules that are adapted at present.

    Examples
    --------
    >>> import gradwrap as gw
    >>> gw.adapted_modules()
    []
    """
    with _lock:
        names = {
            one.namespace.get("__name__", "<generated code>")
            for one in _adapted.values()
            if not isinstance(one.namespace, Given)
        }
    return sorted(names)


# Packages -----------------------------------------------------------------------------------------


def module_of(namespace: Namespace) -> ModuleType | None:
    """Return the module that owns these globals, or None for generated code."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return module if attributes_of(module) is namespace else None


def library_of(namespace: Namespace) -> str:
    """Return the package name of a namespace; "" for generated code."""
    return library_named(str(namespace.get("__name__") or ""))


def can_adapt(namespace: Namespace) -> bool:
    """Tell if code with these globals may be adapted; some libraries never are."""
    library = library_of(namespace)
    return not is_never_adapted(library) and not library.startswith("namedtuple_")


def with_package(namespace: Namespace) -> list[Namespace]:
    """Return the namespaces of all loaded modules of a namespace's package.

    Of a package with many modules, return the module alone: the others follow as code enters them.
    """
    if module_of(namespace) is None:
        return [namespace]
    found = list(loaded(library_of(namespace)))
    return found if len(found) <= MANY else [namespace]


def loaded(package: str) -> Iterator[Namespace]:
    """Yield the namespaces of a package and of its loaded modules."""
    within = f"{package}."
    names = [name for name in list(sys.modules) if name == package or name.startswith(within)]
    for name in names:
        module = sys.modules.get(name)
        if type_of(module) is ModuleType and not is_being_made(vars(module)):
            yield vars(module)


def is_being_made(namespace: Namespace) -> bool:
    """Tell if a namespace is that of a module that is being imported."""
    return bool(attribute_or_none(namespace.get("__spec__"), "_initializing"))


def namespaces_of(packages: Iterable[Any]) -> list[Namespace]:
    """Return the namespaces of packages, given by name or as modules, after importing them."""
    return [one for package in packages for one in _parts_of(package)]


def _parts_of(package: Any) -> Iterator[Namespace]:
    name = _checked(package)
    if isinstance(package, ModuleType):
        yield vars(package)
    else:
        importlib.import_module(name)
    yield from (one for one in loaded(name) if one is not getattr(package, "__dict__", None))


def _checked(package: Any) -> str:
    """Return the name of a package, or raise if it cannot be adapted."""
    name = package.__name__ if isinstance(package, ModuleType) else package
    if not isinstance(name, str):
        raise AdaptationError(
            f"adapt takes packages and modules, or their names; it got {class_of(name)}. "
            'Fix: gradwrap.adapt("package").'
        )
    if is_never_adapted(name.partition(".")[0]):
        fix = {
            "scipy": "import gradwrap.scipy as scipy, or adapt the package that calls it",
            "numpy": "adapt the package that calls it",
        }.get(name.partition(".")[0], "adapt the package that calls it")
        raise AdaptationError(f"{name} is not adapted itself. Fix: {fix}.")
    return name
