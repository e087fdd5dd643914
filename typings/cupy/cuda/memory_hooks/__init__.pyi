from cupy.cuda.memory_hooks.debug_print import DebugPrintHook as DebugPrintHook
from cupy.cuda.memory_hooks.line_profile import LineProfileHook as LineProfileHook
