import importlib.util, json, os, sys, types
from dataclasses import asdict, dataclass, field
path, root, name = sys.argv[1], sys.argv[2], sys.argv[3]
sys.argv = [path]
out = os.fdopen(os.dup(1), 'w', encoding='utf-8')
os.dup2(2, 1)
os.chdir(root)
sys.path[0] = os.path.dirname(path)
sys.dont_write_bytecode = True

@dataclass
class CustomModel:
    name: str
    dockerfile: str = ''
    dockercontext: str = ''
    scripts: str = ''
    url: str = ''
    cred: str = ''
    owner: str = ''
    data: str = ''
    n_gpus: str = '-1'
    timeout: int = 7200
    training_precision: str = ''
    tags: list = field(default_factory=list)
    args: str = ''
    multiple_results: str = ''
    skip_gpu_arch: str = ''
    additional_docker_run_options: str = ''

    def to_dict(self):
        return asdict(self)

    def update_model(self):
        pass

def there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False

if not there('madengine'):
    for n in ('madengine', 'madengine.utils', 'madengine.utils.discover_models',
              'madengine.tools', 'madengine.tools.discover_models'):
        m = types.ModuleType(n)
        m.__path__ = []
        m.CustomModel = CustomModel
        sys.modules[n] = m
        if '.' in n:
            above, _, last = n.rpartition('.')
            setattr(sys.modules[above], last, m)
spec = importlib.util.spec_from_file_location('get_models_json', path)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
if not hasattr(script, 'list_models'):
    sys.exit('it defines no list_models()')
models = list(script.list_models())
for m in models:
    if not hasattr(m, 'to_dict') or not hasattr(m, 'name'):
        sys.exit('list_models() gives a %s, want a CustomModel' % type(m).__name__)
if name:
    models = [m for m in models if m.name == name][:1]
    for m in models:
        m.update_model()
json.dump([m.to_dict() for m in models], out)
out.close()
